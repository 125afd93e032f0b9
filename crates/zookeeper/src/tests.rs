//! Tests that the znodes can be read again as they were written.

use std::collections::BTreeSet;

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Contact, Contacts, Enqueue, Fence, Inbox, Kind, LeaseId,
    Limit, LimitRule, MemoryState, Name, OnMismatch, Permits, Priority, Renew, Request, SlotNames,
    Slots, State, Ticket, Whom, execute,
    time::{SECOND, UNBOUNDED, WAITER_TTL},
};

use super::{
    header::FORMAT,
    replica::{LONGEST_BASE, NodeChange, Replica},
    write::{Hint, replay},
};
use seinpaal_store::packed::{Packer, Unpacker, pack};

struct Everybody;

impl Contacts for Everybody {
    fn contact(&mut self, _: Inbox) -> Contact {
        Contact::Listening
    }
}

/// Requests that follow from a seed.
struct Dice(Rng);

impl Dice {
    fn acquire(&mut self, ticket: Ticket) -> Acquire {
        Acquire {
            ticket,
            kind: Kind::Semaphore,
            permits: Permits::new(self.0.u32(1..=3)).unwrap(),
            wishes: SlotNames::none(),
            limit: None,
            enqueue: Enqueue::Yes { max_waiting: None },
            priority: Priority::new(self.0.i32(-2..3)).unwrap(),
            ttl: 30 * SECOND,
            margin: 8 * SECOND,
            waiter_ttl: WAITER_TTL,
            not_after: None,
            about: format!("about {}", self.0.u64(..9)),
        }
    }

    fn request(&mut self) -> Request {
        let ticket = Ticket(self.0.u128(..40) << 60 | 7);
        match self.0.u64(..20) {
            0..=8 => {
                let (limit, wishes) = (self.rule(), self.wishes());
                Request::Acquire(Acquire { limit, wishes, ..self.acquire(ticket) })
            }
            9..=10 => Request::Release { ticket, slots: None },
            11 => Request::Release { ticket, slots: Some(Slots::range(0, 1)) },
            12 => Request::Renew(self.renew(ticket)),
            13..=14 => Request::Attach(self.attach(ticket)),
            15 => self.detach(ticket),
            16 => Request::Cancel { ticket, remember: SECOND, attach: self.attaching() },
            17 => Request::Evict { ticket },
            18 => Request::Configure(self.configure()),
            _ => Request::Inspect { rows: 3 },
        }
    }

    fn wishes(&mut self) -> SlotNames {
        ["", "", "", "a", "b", "c"][self.0.usize(..6)].parse().unwrap()
    }

    fn rule(&mut self) -> Option<LimitRule> {
        let on_mismatch = match self.0.u64(..8) {
            0 => OnMismatch::Refuse,
            1 => OnMismatch::Adopt,
            2 => OnMismatch::Set,
            3 => OnMismatch::Exact,
            _ => return None,
        };
        let limit = Limit::new(self.0.u32(..9)).unwrap();
        Some(LimitRule { limit, on_mismatch })
    }

    fn renew(&mut self, ticket: Ticket) -> Renew {
        let all = Whom::All { members: 1, digest: ticket.digest() };
        let (lease, whom) = match self.0.u64(..4) {
            0 => (ticket.lease(), all),
            1 => (ticket.place(), all),
            _ => (self.lease(), Whom::Tickets(vec![ticket])),
        };
        Renew { lease, ttl: 25 * SECOND, margin: SECOND, whom }
    }

    fn attaching(&mut self) -> Option<LeaseId> {
        (self.0.u64(..2) == 0).then(|| self.lease())
    }

    fn lease(&mut self) -> LeaseId {
        LeaseId(1 << 100 | self.0.u128(..1000))
    }

    fn detach(&mut self, ticket: Ticket) -> Request {
        let fence = Fence(self.0.choice([0, UNBOUNDED]).unwrap());
        Request::Detach { ticket, fence, ttl: 20 * SECOND, margin: SECOND }
    }

    fn attach(&mut self, ticket: Ticket) -> Attach {
        Attach {
            ticket,
            lease: self.lease(),
            ttl: 20 * SECOND,
            margin: 5 * SECOND,
            not_after: None,
            about: format!("heir {}", self.0.u64(..9)),
        }
    }

    fn configure(&mut self) -> Configure {
        match self.0.u64(..8) {
            5.. => Configure::Slots(["a,b", "a,b,c,d", "b,a"][self.0.usize(..3)].parse().unwrap()),
            0 | 1 => Configure::Limit(Limit::new(self.0.u32(..9)).unwrap()),
            2 => Configure::Unpin,
            3 => Configure::Pause("for a while".into()),
            _ => Configure::Resume,
        }
    }

    fn batch(&mut self) -> Batch {
        let mut requests: Vec<_> = (0..self.0.u64(..5)).map(|_| self.request()).collect();
        requests.push(Request::Configure(Configure::Resume));
        let inbox = Some(Inbox(self.0.u128(..3)));
        Batch { name: Name::new("n").unwrap(), inbox, fence_seen: 0, requests }
    }
}

/// Executes a batch on a copy, and does with the change what a server would.
fn write(replica: &mut Replica, now: u64, batch: &Batch) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let mut recorder = replica.recorder(now);
    let Ok(outcome) = execute(&mut recorder, &mut Everybody, now, batch);
    let recorded = recorder.packer;
    let hints: Vec<Hint> = outcome.wakeups.iter().map(Hint::from).collect();
    let change = replica.change(recorded, &hints, LONGEST_BASE);
    let written = match &change {
        NodeChange::Create { log, .. } => Some((log.clone(), Some(Vec::new()))),
        NodeChange::Append { log, .. } => Some((log.clone(), None)),
        NodeChange::Pack { log, base, .. } => Some((log.clone(), Some(base.clone()))),
        NodeChange::Nothing | NodeChange::Forget { .. } => None,
    };
    replica.keep(change, hints);
    written
}

#[test]
fn the_random_batches_have_every_kind_of_request_in_them() {
    let mut dice = Dice(Rng::with_seed(0x5eed));
    let requests = (0..1000).flat_map(|_| dice.batch().requests);
    let kinds: BTreeSet<_> = requests.map(|request| request.kind()).collect();
    assert_eq!(kinds, Request::KINDS.iter().copied().collect());
}

#[test]
fn a_copy_that_follows_is_the_copy_that_wrote() {
    let mut dice = Dice(Rng::with_seed(0x5eed));
    let (mut writer, mut reader) = (Replica::default(), Replica::default());
    let (mut now, mut version, mut packings, mut heard) = (1_000_000_000_000_000, 0, 0, 0);
    for _ in 0..3_000 {
        now += dice.0.u64(..9) * SECOND;
        let Some((log, base)) = write(&mut writer, now, &dice.batch()) else {
            reader.clear();
            continue;
        };
        packings += usize::from(base.as_ref().is_some_and(|base| !base.is_empty()));
        version += 1;
        if dice.0.u64(..3) > 0 || base.is_some() {
            heard += reader.follow(version, log, base).unwrap().hints.len();
            assert_eq!(reader.state, writer.state);
            reader.state.check().unwrap();
        }
    }
    assert!(packings > 3 && heard > 100, "{packings} packings, {heard} hints");
}

#[test]
fn what_was_executed_and_not_written_is_undone() {
    let mut dice = Dice(Rng::with_seed(0xd1ce));
    let mut replica = Replica::default();
    let now = 1_000_000_000_000_000;
    for step in 0..200 {
        write(&mut replica, now + step * SECOND, &dice.batch());
        let before = replica.state.clone();
        let mut recorder = replica.recorder(now);
        let Ok(_) = execute(&mut recorder, &mut Everybody, now + step * SECOND, &dice.batch());
        replica.undo().unwrap();
        assert_eq!(replica.state, before);
    }
}

#[test]
fn a_packed_state_unpacks_to_itself_and_is_small() {
    let mut dice = Dice(Rng::with_seed(7));
    let mut state = MemoryState::default();
    let name = Name::new("n").unwrap();
    for some in 0..100 {
        let ticket = |i: u64| Ticket(1 << 100 | u128::from(some * 50 + i) << 32 | 1);
        let acquires = (0..50).map(|i| Request::Acquire(dice.acquire(ticket(i))));
        let limit = Request::Configure(Configure::Limit(Limit::new(3).unwrap()));
        let requests = [limit].into_iter().chain(acquires).collect();
        let batch = Batch { name: name.clone(), inbox: Some(Inbox(9)), fence_seen: 0, requests };
        let Ok(_) = execute(&mut state, &mut Everybody, 1_000_000_000_000_000 + some, &batch);
    }
    let packed = pack(&mut state);
    let (mut unpacked, mut hints) = (MemoryState::default(), Vec::new());
    replay(&packed, &mut unpacked, &mut hints).unwrap();
    assert_eq!(unpacked, state);
    let Ok(head) = state.head();
    assert_eq!(head.holders + head.waiting, 5_000);
    assert!(packed.len() / 5_000 < 90, "{} bytes a ticket", packed.len() / 5_000);
}

#[test]
fn damage_is_noticed_and_never_a_panic() {
    let mut dice = Dice(Rng::with_seed(3));
    let mut replica = Replica::default();
    let mut log = Vec::new();
    for step in 0..40 {
        let written = write(&mut replica, 1_000_000_000_000_000 + step, &dice.batch());
        log = written.map_or(log, |(log, _)| log);
    }
    for _ in 0..2_000 {
        let mut bad = log.clone();
        bad.truncate(dice.0.usize(..log.len()) + 1);
        let at = dice.0.usize(..bad.len());
        bad[at] ^= 1 << dice.0.u64(..8);
        // Both results are right: an error, or another state. It must only not panic.
        let _ = Replica::default().follow(1, bad, Some(Vec::new()));
    }
    assert!(Replica::default().follow(1, vec![9, 9, 9], Some(Vec::new())).is_err());
    let mut header = Packer::bare();
    header.byte(FORMAT);
    [9, 0, u64::MAX].into_iter().for_each(|number| header.number(number));
    let too_many_hints = header.into_bytes();
    assert!(Replica::default().follow(1, too_many_hints, Some(Vec::new())).is_err());
}

#[test]
fn numbers_and_ids_come_back() {
    let numbers = [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX];
    let ids = [0, u128::MAX, 5 << 64 | 1, 5 << 64 | 2, u128::MAX, 0];
    let mut packer = Packer::new(1 << 50);
    for number in numbers {
        packer.number(number);
        packer.instant(number);
        packer.signed(number as i64);
    }
    ids.iter().for_each(|id| packer.id(*id));
    let bytes = packer.into_bytes();
    let mut unpacker = Unpacker::new(&bytes).unwrap();
    for number in numbers {
        assert_eq!(unpacker.number(), Ok(number));
        assert_eq!(unpacker.instant(), Ok(number));
        assert_eq!(unpacker.signed(), Ok(number as i64));
    }
    assert!(ids.iter().all(|id| unpacker.id() == Ok(*id)));
    assert!(unpacker.is_empty());
}
