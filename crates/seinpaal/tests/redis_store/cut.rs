//! Values of a name that were cut short.

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

/// The calls after which the values of a name are cut.
type Calls = Vec<(usize, Request)>;

fn ticket(session: usize, number: u32) -> Ticket {
    Ticket((session as u128 + 1) << 64).series().ticket(number)
}

fn take(session: usize, number: u32) -> Request {
    let ticket = ticket(session, number);
    let limit = Limit::new(3).unwrap();
    let limit = Some(LimitRule { limit, on_mismatch: OnMismatch::Refuse });
    Request::Acquire(Acquire { ticket, limit, ..acquisition(1, 60 * SECOND) })
}

fn give_back(number: u32) -> Request {
    Request::Release { ticket: ticket(0, number), slots: None }
}

fn renew_all(tickets: u32) -> Request {
    let sum: u64 = (1..=tickets).map(|number| ticket(0, number).digest()).sum();
    renew(Whom::All { members: tickets, digest: sum % (1 << 48) })
}

fn renew(whom: Whom) -> Request {
    let lease = ticket(0, 0).lease();
    Request::Renew(Renew { lease, ttl: 60 * SECOND, margin: 15 * SECOND, whom })
}

fn all_calls() -> Vec<Calls> {
    let of_one = |most| (1..=most).map(|number| (0, take(0, number))).collect::<Vec<_>>();
    let line = || of_one(3).into_iter().chain([(1, take(1, 1)), (2, take(2, 1))]);
    let pinned = Request::Configure(Configure::Limit(Limit::new(3).unwrap()));
    let named = Request::Configure(Configure::Slots("a,b,c".parse().unwrap()));
    vec![
        vec![(0, take(0, 1)), (0, give_back(1))],
        of_one(3).into_iter().chain([(0, renew_all(3))]).collect(),
        line().collect(),
        [(0, pinned)].into_iter().chain(line()).collect(),
        [(0, named)].into_iter().chain(line()).collect(),
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

/// The fields that are cut. Of records that are as long, one is enough.
fn unlike_fields(mut fields: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<(Vec<u8>, Vec<u8>)> {
    fields.sort_by_key(|(field, text)| (field.len(), text.len()));
    fields.dedup_by_key(|(field, text)| (field.len(), text.len()));
    fields
}

/// Asks each request about a name of which one field is cut, at each length.
async fn ask_of_each_cut(
    clients: &[Client],
    behind: &mut MultiplexedConnection,
    (field, text): &(Vec<u8>, Vec<u8>),
    kept: &Kept,
) {
    let shown = field.escape_ascii().to_string();
    for length in 0..text.len() {
        for (who, request) in requests() {
            kept.put_back(behind, field, &text[..length]).await;
            let at = format!("field {shown} cut to {length}: {request:?}");
            let mut answer = clients[who].ask("n", request.clone()).await;
            // On a busy machine a call may have no answer in time. Then it is made anew.
            while answer.as_ref().is_err_and(StoreError::is_passing) {
                kept.put_back(behind, field, &text[..length]).await;
                answer = clients[who].ask("n", request.clone()).await;
            }
            match answer {
                // A record that ends with a row, or a setting that is shorter, can be read.
                Ok(reply) => assert!(field != b"h", "{at}: {reply:?}"),
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
    for calls in all_calls() {
        say::<()>(&mut behind, cmd("DEL").arg(&KEYS)).await;
        for (who, request) in calls {
            clients[who].ask("n", request).await.unwrap();
        }
        let fields: Vec<(Vec<u8>, Vec<u8>)> = say(&mut behind, cmd("HGETALL").arg(KEYS[0])).await;
        let kept = Kept::of(&mut behind).await;
        for field in unlike_fields(fields) {
            ask_of_each_cut(&clients, &mut behind, &field, &kept).await;
        }
    }
}
