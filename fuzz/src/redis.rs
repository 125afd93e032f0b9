//! Answers of a server that has gone wrong. The fuzzed bytes are the server's reply as it comes
//! over the connection.

use redis::{Value, parse_redis_value};
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Fence, Inbox, Kind, Name, Permits, Priority, Renew, Replies, Request,
    Ticket, Whom, queue as queue_ledger,
    session::{Session, SessionConfig, Want},
    time::SECOND,
};
use seinpaal_quorum::{
    answer::{NodeAnswer, NodeReply},
    wakeup as node_wakeup,
};
use seinpaal_redis::{
    cluster::{HashSlotMap, NodeAddress},
    decode, error,
    keys::Keys,
    queue, sentinel, wakeup, write,
};
use seinpaal_store::{
    News, StoreError, StoreErrorKind,
    url::{SentinelUrl, StoreUrl},
};

use crate::must_be_one_line;

/// An answer of a script, as the answer to each request alone and to all of them. Replies that can
/// be read from it are told to a session.
pub(crate) fn answer(bytes: &[u8]) {
    let Some(value) = value(bytes) else { return };
    for batch in batches() {
        match decode::replies(&value, &batch) {
            Ok(replies) => {
                assert_eq!(replies.replies.len(), batch.requests.len());
                tell_a_session(replies);
            }
            Err(error) => must_be_about_the_answer(&error),
        }
    }
    for batch in queue_batches() {
        match queue::replies(value.clone(), &batch) {
            Ok(replies) => assert_eq!(replies.replies.len(), batch.requests.len()),
            Err(error) => must_be_about_the_answer(&error),
        }
    }
}

fn must_be_about_the_answer(error: &StoreError) {
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    must_be_one_line(error);
    assert!(error.to_string().len() < 1000, "{error}");
}

/// Requests to a queue, with a job and without one.
fn queue_batches() -> impl Iterator<Item = queue_ledger::Batch> {
    use queue_ledger::{Batch, Delivery, How, ItemId, Request};
    let delivery = Delivery { id: ItemId(1), fence: Fence(2) };
    let requests =
        [Request::Finish { delivery, how: How::Acknowledge }, Request::Inspect { rows: 9 }];
    requests
        .map(|request| Batch {
            name: Name::new("jobs").expect("that is a name"),
            session: Inbox(7),
            number: 1,
            not_after: 1,
            seen: 0,
            requests: vec![request],
        })
        .into_iter()
}

/// Each request alone, and all of them.
fn batches() -> impl Iterator<Item = Batch> {
    let asked = requests();
    let alone = asked.clone().into_iter().map(|request| vec![request]);
    alone.chain([asked.to_vec()]).map(|requests| Batch {
        name: Name::new("gpus").expect("that is a name"),
        inbox: Some(Inbox(7)),
        fence_seen: 0,
        requests,
    })
}

/// Requests with a ticket, and one without.
fn requests() -> [Request; 5] {
    let (ticket, lease, ttl, margin) = (Ticket(1), Ticket(1).lease(), 30 * SECOND, SECOND);
    let acquire = Acquire {
        ticket,
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl,
        margin,
        waiter_ttl: ttl,
        not_after: None,
        about: String::new(),
    };
    let renew = |whom| Request::Renew(Renew { lease, ttl, margin, whom });
    [
        Request::Acquire(acquire),
        Request::Release { ticket, slots: None },
        renew(Whom::All { members: 1, digest: 1 }),
        renew(Whom::Tickets(vec![ticket])),
        Request::Inspect { rows: 9 },
    ]
}

/// A client that holds nothing asks for permits, attaches to a ticket, hears these replies and goes
/// on for a while. After three turns it detaches.
fn tell_a_session(replies: Replies) {
    let mut session = Session::new(Inbox(1 << 64 | 9), SessionConfig::default());
    let name = Name::new("gpus").expect("that is a name");
    let mut tickets = Vec::new();
    for permits in [1, 2] {
        tickets.push(session.acquire(SECOND, &name, want(permits)));
    }
    let strange = Ticket(77);
    session.attach(SECOND, &name, strange, want(1)).expect("it is not ours");
    tickets.push(strange);
    let mut now = SECOND;
    for turn in 0..6 {
        if turn == 3 {
            session.detach(now, strange);
        }
        while let Some(call) = session.poll_call(now) {
            let mut replies = replies.clone();
            address_to(&mut replies, &tickets);
            session.handle_replies(now, call.id, replies);
            while session.poll_event().is_some() {}
            now += SECOND;
            if now > 100 * SECOND {
                return;
            }
        }
        now = session.poll_timeout().map_or(now + SECOND, |due| due.max(now + 1));
        session.handle_timeout(now);
    }
}

/// Addresses replies to the tickets of the session. Seeds cannot know which tickets it draws.
fn address_to(replies: &mut Replies, tickets: &[Ticket]) {
    for (reply, mine) in replies.replies.iter_mut().zip(tickets) {
        use seinpaal_proto::Reply;
        match reply {
            Reply::Granted(grant) => grant.ticket = *mine,
            Reply::Queued { ticket, .. } | Reply::TooLate { ticket } => *ticket = *mine,
            _ => {}
        }
    }
}

fn want(permits: u32) -> Want {
    Want {
        permits: Permits::new(permits).expect("in range"),
        kind: Kind::Semaphore,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: 30 * SECOND,
        deadline: None,
        about: "".into(),
    }
}

/// A message on the channel of an inbox, or of a cluster's name.
pub(crate) fn wakeup(bytes: &[u8]) {
    let keys = Keys::new("seinpaal:").expect("it has no braces");
    if let Some(News::Wakeup(hint)) = node_wakeup::read(&keys, Inbox(7), bytes) {
        must_be_one_line(&hint.name);
    }
    if let Some(wakeup) = wakeup::parse_queue(&keys, Inbox(7), bytes) {
        must_be_one_line(&wakeup.name);
    }
    let Some(wakeup) = wakeup::parse(&keys, Inbox(7), bytes) else { return };
    must_be_one_line(&wakeup.name);
    let [records, _] = keys.of(&wakeup.name);
    assert_eq!(keys.name_of(&records), Some(wakeup.name.clone()));
    if let seinpaal_proto::What::Granted { fence: Fence(fence), slots, .. } = &wakeup.what {
        assert!(*fence <= seinpaal_proto::time::UNBOUNDED, "{fence}");
        let _ = slots.count();
    }
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    let ticket = session.acquire(SECOND, &wakeup.name, want(1));
    let _ = session.poll_call(SECOND);
    session.handle_wakeup(SECOND, seinpaal_proto::Wakeup { ticket, ..wakeup });
    session.handle_timeout(2 * SECOND);
}

/// An error that a server sends: a code and a text.
pub(crate) fn refusal(bytes: &[u8]) {
    let Some(Value::ServerError(said)) = value(bytes) else { return };
    must_be_one_line(error::of_server(&said));
    let error = redis::RedisError::from(said).into();
    must_be_one_line(error::of_call(&error, "redis://h:1/0"));
    must_be_one_line(error::of_connecting(&error, "redis://h:1/0"));
}

/// The answer to `CLUSTER SLOTS`, or a redirection.
pub(crate) fn cluster_slots(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        redirection(text);
    }
    if let Some(value) = value(bytes) {
        hash_slots(&value);
    }
}

/// Reads a redirection, and writes it again.
fn redirection(text: &str) {
    let of = a_node();
    if let Some(address) = NodeAddress::parse(text, &of) {
        assert_eq!(NodeAddress::parse(&address.to_string(), &of), Some(address));
    }
}

/// Reads the answer to `CLUSTER SLOTS`, and calls every query of the map.
fn hash_slots(answer: &Value) {
    let Some(map) = HashSlotMap::parse(answer, &a_node()) else { return };
    for hash_slot in [0, 1, 16_383, u16::MAX] {
        let owner = map.owner(hash_slot);
        assert!(owner.is_none_or(|owner| map.knows(owner)), "{hash_slot}");
    }
    assert!(map.masters().iter().all(|master| map.nodes().contains(master)));
    let Value::Array(rows) = answer else { panic!("a map is read of a list") };
    assert!(map.nodes().len() <= rows.len() * (map.most_replicas() as usize + 1));
}

fn a_node() -> NodeAddress {
    NodeAddress { host: "h".into(), port: 1 }
}

/// The answers of a sentinel to both questions, and its messages.
pub(crate) fn sentinel(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = sentinel::moved_to(text, "m");
    }
    let Some(value) = value(bytes) else { return };
    let (address, details) = match value {
        Value::Array(parts) => match <[Value; 2]>::try_from(parts) {
            Ok([address, details]) => (address, details),
            Err(parts) => (Value::Array(parts), Value::Nil),
        },
        value => (value, Value::Nil),
    };
    if let Err(error) = sentinel::sighting(&a_sentinel(), "the sentinel h:1", address, details) {
        must_be_one_line(error);
    }
}

fn a_sentinel() -> SentinelUrl {
    match StoreUrl::parse("redis+sentinel://h/m") {
        Ok(StoreUrl::Sentinel(url)) => url,
        other => panic!("{other:?}"),
    }
}

/// A node of a quorum.
pub(crate) fn quorum_node(bytes: &[u8]) {
    let Some(value) = value(bytes) else { return };
    let Value::Array(parts) = &value else { return };
    let read = NodeAnswer::read(&value, parts.len().saturating_sub(3));
    for reply in read.iter().flat_map(|answer| &answer.replies) {
        if let NodeReply::Took(vote) = reply {
            let _ = vote.slots.count();
        }
    }
}

/// The result of a guarded write.
pub(crate) fn guarded_write(bytes: &[u8]) {
    let Some(value) = value(bytes) else { return };
    if let Some(Err(error)) = write::read(value) {
        must_be_one_line(error);
    }
}

/// The value that the Redis crate reads from the bytes. A server's error inside an answer is part
/// of the answer.
fn value(bytes: &[u8]) -> Option<Value> {
    parse_redis_value(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use seinpaal_proto::Reply;

    use super::*;

    #[test]
    fn the_seeds_of_queues_are_answers_to_queues() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/redis_reply");
        let seeds = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let of_queues = seeds.filter(|seed| seed.to_string_lossy().contains("/queue_"));
        let value = |seed: &Path| value(&fs::read(seed).unwrap()).unwrap();
        for seed in of_queues {
            let is_read = queue_batches().any(|batch| queue::replies(value(&seed), &batch).is_ok());
            assert!(is_read, "{}", seed.display());
        }
    }

    fn read(seed: &Path) -> Vec<Reply> {
        let value = value(&fs::read(seed).unwrap()).unwrap();
        let read = batches().filter_map(|batch| decode::replies(&value, &batch).ok());
        read.flat_map(|replies| replies.replies).collect()
    }

    #[test]
    fn the_seeds_have_every_kind_of_answer_as_scripts_write_it() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/redis_reply");
        let seeds = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let replies = seeds.flat_map(|seed| read(&seed));
        let kinds: BTreeSet<_> = replies.map(|reply| reply.kind()).collect();
        assert_eq!(kinds, Reply::KINDS.iter().copied().collect());
    }
}
