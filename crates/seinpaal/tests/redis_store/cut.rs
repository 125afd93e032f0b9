//! Values of a name that were cut short, in each form in which a name is kept.

use redis::{Value, aio::MultiplexedConnection, cmd, pipe};
use seinpaal::store::{Store, StoreError, StoreErrorKind};
use seinpaal_proto::{
    Acquire, Configure, Limit, LimitRule, OnMismatch, Renew, Request, Ticket, Whom, time::SECOND,
};
use seinpaal_rig::RedisServer;

use super::super::{
    requests::{Client, acquisition, plain},
    say,
};

const KEYS: [&str; 2] = ["seinpaal:{n}", "seinpaal:{n}:o"];

/// The calls after which a name is kept in a form. The first byte of the head is its number.
struct Form {
    number: u8,
    calls: Vec<(usize, Request)>,
}

fn ticket(session: usize, number: u32) -> Ticket {
    Ticket((session as u128 + 1) << 64).series().ticket(number)
}

fn take(session: usize, number: u32) -> Request {
    let limit = Limit::new(if session == 9 { 200 } else { 3 }).unwrap();
    let session = session % 9;
    let ticket = ticket(session, number);
    let limit = Some(LimitRule { limit, on_mismatch: OnMismatch::Refuse });
    let lease = ticket.series().ticket(0).into();
    let waiter_lease = Ticket((session as u128 + 50) << 64).into();
    let asked = acquisition(1, 60 * SECOND);
    Request::Acquire(Acquire { ticket, limit, lease, waiter_lease, ..asked })
}

fn give_back(number: u32) -> Request {
    Request::Release { ticket: ticket(0, number), slots: None }
}

fn renew_all(tickets: u32) -> Request {
    let sum: u64 = (1..=tickets).map(|number| ticket(0, number).digest()).sum();
    renew(Whom::All { members: tickets, digest: sum % (1 << 48) })
}

fn renew(whom: Whom) -> Request {
    let lease = ticket(0, 0).into();
    Request::Renew(Renew { lease, ttl: 60 * SECOND, margin: 15 * SECOND, whom })
}

fn all_forms() -> Vec<Form> {
    let form = |number, calls| Form { number, calls };
    let of_one = |most| (1..=most).map(|number| (0, take(0, number))).collect::<Vec<_>>();
    let many = (1..=90).map(|number| (0, take(9, number)));
    let line = || of_one(3).into_iter().chain([(1, take(1, 1)), (2, take(2, 1))]);
    let pinned = Request::Configure(Configure::Limit(Limit::new(3).unwrap()));
    let named = Request::Configure(Configure::Slots("a,b,c".parse().unwrap()));
    let renewed = |tickets| [(0, renew_all(tickets))];
    vec![
        form(13, vec![(0, take(0, 1)), (0, give_back(1))]),
        form(15, vec![(0, take(0, 1)), (0, give_back(1)), (0, take(0, 2))]),
        form(14, of_one(3)),
        form(20, of_one(3).into_iter().chain(renewed(3)).collect()),
        form(21, many.chain(renewed(90)).collect()),
        form(22, line().collect()),
        form(12, [(0, pinned)].into_iter().chain(line()).collect()),
        form(16, [(0, named)].into_iter().chain(line()).collect()),
    ]
}

/// One request of each kind that reads what is kept.
fn requests() -> Vec<(usize, Request)> {
    let held = ticket(0, 1);
    vec![
        (3, take(3, 1)),
        (0, take(0, 4)),
        (0, give_back(1)),
        (0, give_back(2)),
        (0, renew_all(3)),
        (0, renew(Whom::Tickets(vec![held]))),
        (0, renew(Whom::Tickets(vec![held, ticket(0, 2)]))),
        (1, Request::Cancel { ticket: ticket(1, 1), remember: SECOND, attach: None }),
        (0, Request::Evict { ticket: held }),
        (0, Request::Configure(Configure::Unpin)),
        (0, Request::Inspect { rows: 9 }),
    ]
}

/// The keys of the name as `DUMP` gives them, to be put back before each request.
struct Kept([Option<Vec<u8>>; 2]);

impl Kept {
    async fn of(behind: &mut MultiplexedConnection) -> Self {
        let mut kept = [None, None];
        for (key, kept) in KEYS.into_iter().zip(&mut kept) {
            *kept = say(behind, cmd("DUMP").arg(key)).await;
        }
        Self(kept)
    }

    /// Puts the keys back, with this text in place of one of the fields.
    async fn put_back(&self, behind: &mut MultiplexedConnection, field: &[u8], text: &[u8]) {
        let mut all = pipe();
        all.cmd("DEL").arg(&KEYS);
        for (key, kept) in KEYS.into_iter().zip(&self.0) {
            if let Some(kept) = kept {
                all.cmd("RESTORE").arg(key).arg(0).arg(kept);
            }
        }
        all.cmd("HSET").arg(KEYS[0]).arg(field).arg(text);
        let _: Vec<Value> = all.query_async(behind).await.unwrap();
    }
}

/// The fields that are cut. Of rows that look alike, one is enough.
fn unlike_fields(mut fields: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<(Vec<u8>, Vec<u8>)> {
    fields.sort();
    fields.dedup_by_key(|(field, text)| (field[0], text.len()));
    fields
}

/// Asks each request about a name of which one field is cut, at each length.
async fn ask_of_each_cut(
    clients: &[Client],
    behind: &mut MultiplexedConnection,
    form: &Form,
    (field, text): &(Vec<u8>, Vec<u8>),
    kept: &Kept,
) {
    let shown = String::from_utf8_lossy(field).into_owned();
    for length in 0..text.len() {
        for (who, request) in requests() {
            kept.put_back(behind, field, &text[..length]).await;
            let at = format!("form {}, field {shown} cut to {length}: {request:?}", form.number);
            let is_line = form.number == 22 && field == b"h";
            let mut answer = clients[who].ask("n", request.clone()).await;
            // On a busy machine a call may have no answer in time. Then it is made anew.
            while answer.as_ref().is_err_and(StoreError::is_passing) {
                kept.put_back(behind, field, &text[..length]).await;
                answer = clients[who].ask("n", request.clone()).await;
            }
            match answer {
                Ok(reply) => assert!(!is_line, "{at}: {reply:?}"),
                Err(error) => {
                    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{at}: {error}");
                    let said = error.to_string();
                    assert!(!said.contains("user_script"), "{at}: {error}");
                }
            }
        }
        kept.put_back(behind, field, &text[..length]).await;
        clients[0].store.list("").await.unwrap();
    }
}

#[tokio::test]
async fn a_value_that_is_cut_short_is_a_typed_answer_at_whatever_byte_it_ends() {
    let server = RedisServer::start();
    let mut clients = Vec::new();
    for who in 0..4 {
        clients.push(Client::connect(&server.socket_url(""), who + 1).await);
    }
    let mut behind = plain(&server.socket_url("")).await;
    for form in all_forms() {
        say::<()>(&mut behind, cmd("DEL").arg(&KEYS)).await;
        for (who, request) in &form.calls {
            clients[*who].ask("n", request.clone()).await.unwrap();
        }
        let fields: Vec<(Vec<u8>, Vec<u8>)> = say(&mut behind, cmd("HGETALL").arg(KEYS[0])).await;
        let head = fields.iter().find(|(field, _)| field == b"h").unwrap();
        assert_eq!(head.1[0], form.number, "the form of the name");
        let kept = Kept::of(&mut behind).await;
        for field in unlike_fields(fields) {
            ask_of_each_cut(&clients, &mut behind, &form, &field, &kept).await;
        }
    }
}
