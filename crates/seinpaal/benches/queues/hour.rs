//! An idle hour, simulated: the sessions and the ledger themselves, without store, network or
//! waiting.

use std::convert::Infallible;

use seinpaal_proto::{
    Contact, Contacts, Inbox, Name,
    queue::{
        MemoryQueue, Outcome, execute,
        session::{Bearings, Session, Until, Want},
    },
    session::SessionConfig,
};

use crate::table::{Bound, Table};

const SECOND: u64 = 1_000_000;
const HOUR: u64 = 3600 * SECOND;

struct Everybody;

impl Contacts for Everybody {
    fn contact(&mut self, _: Inbox) -> Contact {
        Contact::Listening
    }
}

pub(crate) fn simulated(table: &mut Table) {
    for workers in [1, 8] {
        let calls = calls_in_an_hour(workers);
        let what =
            format!("simulated: {workers} idle sessions, an hour of the ledger's clock: calls");
        let most = f64::from(workers) * 67.0; // places are renewed every 54 to 60 s
        table.count(&what, f64::from(calls), Bound::AtMost(most), "");
    }
}

fn calls_in_an_hour(workers: u32) -> u32 {
    let start = 1_000_000 * SECOND;
    let mut queue = MemoryQueue::default();
    let mut sessions: Vec<Session> = (1..=workers).map(session).collect();
    let (mut now, mut calls) = (start, 0);
    while now < start + HOUR {
        for at in 0..sessions.len() {
            while let Some(call) = sessions[at].poll_call(now) {
                calls += 1;
                let done: Result<Outcome, Infallible> =
                    execute(&mut queue, &mut Everybody, now, &call.batch);
                let Ok(done) = done;
                sessions[at].handle_replies(now, call.id, done.replies);
                for wakeup in &done.wakeups {
                    let of = usize::try_from(wakeup.inbox.0).expect("small") - 1;
                    sessions[of].handle_wakeup(now, wakeup);
                }
            }
        }
        let next = sessions.iter().filter_map(Session::poll_timeout).min();
        now = next.unwrap_or(start + HOUR).max(now + 1);
        sessions.iter_mut().for_each(|session| session.handle_timeout(now));
    }
    calls
}

fn session(number: u32) -> Session {
    let name = Name::new("idle").expect("a good name");
    let mut session =
        Session::new(Inbox(number.into()), name, SessionConfig::default(), Bearings::default());
    let want = Want {
        items: 8,
        ttl: 15 * SECOND,
        until: Until::Unpopped,
        drains: false,
        about: String::new(),
    };
    session.pop(want);
    session
}
