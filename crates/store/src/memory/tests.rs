use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
    },
    thread,
};

use futures_executor::block_on;
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Inbox, Kind, Name, Permits, Priority, Reply, Request, Ticket,
    time::{Micros, SECOND, UNBOUNDED, WAITER_TTL},
};
use tokio::sync::mpsc;

use super::{MemoryHub, MemoryStore};
use crate::{Store, clock::Clock};

fn hub() -> (Arc<MemoryHub>, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(1_000 * SECOND));
    (MemoryHub::new(Clock::Manual(Arc::clone(&now))), now)
}

fn store(hub: &Arc<MemoryHub>, inbox: u128) -> Arc<MemoryStore> {
    MemoryStore::open(hub, Inbox(inbox), mpsc::unbounded_channel().0)
}

fn send(store: &MemoryStore, name: &str, requests: Vec<Request>) -> Vec<Reply> {
    let name = Name::new(name).unwrap();
    let batch = Batch { name, inbox: Some(store.inbox), fence_seen: 0, requests };
    block_on(store.call(&batch)).unwrap().replies
}

fn want(ticket: u128, ttl: Micros) -> Request {
    Request::Acquire(Acquire {
        ticket: Ticket(ticket),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::No,
        priority: Priority::default(),
        ttl,
        margin: UNBOUNDED,
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    })
}

fn release(ticket: u128) -> Request {
    Request::Release { ticket: Ticket(ticket), slots: None }
}

#[test]
fn names_that_were_used_once_do_not_pile_up() {
    let (hub, now) = hub();
    let client = store(&hub, 1);
    for ticket in 0..2_000 {
        now.fetch_add(SECOND, SeqCst);
        send(&client, &format!("once {ticket}"), vec![want(ticket, SECOND), release(ticket)]);
    }
    assert!(hub.names() < 10, "{} names are kept", hub.names());
}

#[test]
fn a_hub_is_shared_by_its_label() {
    let (one, same) = (MemoryHub::process("a label"), MemoryHub::process("a label"));
    assert!(Arc::ptr_eq(&one, &same));
    assert!(!Arc::ptr_eq(&one, &MemoryHub::process("another")));
}

#[test]
fn the_death_of_a_client_ends_its_leases_at_every_name() {
    let (hub, _) = hub();
    let (dying, other) = (store(&hub, 1), store(&hub, 2));
    for ticket in 0..300 {
        send(&dying, &format!("name {ticket}"), vec![want(ticket, 100 * SECOND)]);
    }
    drop(dying);
    for ticket in 0..300 {
        let replies = send(&other, &format!("name {ticket}"), vec![want(1_000 + ticket, SECOND)]);
        assert!(matches!(replies[0], Reply::Granted(_)), "{replies:?}");
    }
}

#[test]
fn threads_that_race_are_let_in_one_at_a_time() {
    const THREADS: u32 = 8;
    let (hub, barrier) = (MemoryHub::new(Clock::System), Barrier::new(THREADS as usize));
    let (inside, entered) = (AtomicU32::new(0), AtomicU32::new(0));
    let visits = &|thread: u32| {
        let client = store(&hub, u128::from(thread) + 1);
        barrier.wait();
        for visit in 1..=2_000 {
            let ticket = u128::from(thread) << 32 | visit;
            if let Reply::Granted(_) = send(&client, "race", vec![want(ticket, SECOND)])[0] {
                assert_eq!(inside.fetch_add(1, SeqCst), 0);
                entered.fetch_add(1, SeqCst);
                inside.fetch_sub(1, SeqCst);
                send(&client, "race", vec![release(ticket)]);
            }
        }
    };
    thread::scope(|scope| {
        (0..THREADS).for_each(|thread| drop(scope.spawn(move || visits(thread))));
    });
    assert!(entered.load(SeqCst) > 0);
}
