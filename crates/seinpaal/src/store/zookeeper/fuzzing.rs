//! What is kept in znodes that others may have written to.

use seinpaal_proto::time::SECOND;
use seinpaal_proto::{
    Batch, Contact, Contacts, Inbox, MemoryState, Name, Request, Ticket, execute,
};

use super::{
    paths,
    replica::Replica,
    write::{pack, replay},
};
use crate::fuzzing::must_be_one_line;

const NOW: u64 = 1_800_000_000 * SECOND;

/// A base: what can be read packs to what reads the same, and the ledger runs on it.
fn base(bytes: &[u8]) {
    let (mut state, mut hints) = (MemoryState::default(), Vec::new());
    if replay(bytes, &mut state, &mut hints).is_err() {
        return;
    }
    let packed = pack(&mut state);
    let mut again = MemoryState::default();
    replay(&packed, &mut again, &mut Vec::new()).expect("what was packed can be read");
    assert_eq!(pack(&mut again), packed);
    use_it(&mut again);
}

/// The first byte splits the rest into a base and a log.
pub(crate) fn node(bytes: &[u8]) {
    let Some((split, rest)) = bytes.split_first() else { return };
    base(rest);
    let (base, log) = rest.split_at(usize::from(*split).min(rest.len()));
    let _ = Replica::header(log);
    let mut replica = Replica::default();
    if replica.follow(1, log.to_vec(), Some(base.to_vec())).is_err() {
        return;
    }
    replica.undo().expect("what was read once can be read again");
    assert!(replica.follow(1, log.to_vec(), None).is_ok());
}

fn use_it(state: &mut MemoryState) {
    let tickets = state.entries().map(|entry| entry.ticket).take(4).collect::<Vec<_>>();
    let mut requests = vec![Request::Inspect { rows: 64 }];
    requests.extend(tickets.iter().map(|&ticket| Request::Release { ticket, slots: None }));
    requests.push(Request::Cancel { ticket: Ticket(77), remember: SECOND });
    call(state, 0, requests);
    for later in [1, 40, 100_000] {
        call(state, later, Vec::new());
    }
}

fn call(state: &mut MemoryState, after: u64, requests: Vec<Request>) {
    let name = Name::new("gpus").expect("that is a name");
    let batch = Batch { name, inbox: Some(Inbox(1)), fence_seen: 0, requests };
    for _ in 0..64 {
        let Ok(outcome) = execute(state, &mut Somebody, NOW + after * SECOND, &batch);
        if !outcome.replies.backlog {
            return;
        }
    }
    panic!("the work at a name never ends");
}

/// What a child of the names' znode is called.
pub(crate) fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(name) = paths::decode(text) else { return };
    must_be_one_line(&name);
    let path = paths::Paths::new("/root").name(&name);
    assert_eq!(path.strip_prefix("/root/names/"), Some(text));
}

struct Somebody;

impl Contacts for Somebody {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if inbox.0.is_multiple_of(2) { Contact::Listening } else { Contact::Silent }
    }
}
