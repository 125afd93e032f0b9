//! Random histories: the rules hold after every step of clients, people and clocks.

use std::{collections::BTreeMap, string::String, vec, vec::Vec};

use fastrand::Rng;

use super::{why, world::*};
use crate::{
    Acquire, Configure, Contact, Enqueue, Fence, Kind, Limit, OnMismatch, Permits, Priority,
    Replies, Request, Slots, Snapshot, Ticket, WaiterRow,
    time::{Micros, SECOND},
};

const SEEDS: u64 = 150;
const STEPS: usize = 300;
const CLIENTS: u64 = 5;
/// How many tickets have a series of their own.
const ALONE: u64 = 12;
/// The client with number n has the series with number `SERIES` + n.
const SERIES: u128 = 1_000;
/// Half of these lists are the beginning of another one.
const NAMINGS: [&str; 5] = ["a", "a,b", "a,b,c,d", "b,a,c", "c"];
const WISHES: [&str; 8] = ["", "", "", "", "a", "b", "c,a", "d"];

/// Draws the next request from a seed. The map has the last member of each series.
struct Dice(Rng, BTreeMap<u128, u128>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed), BTreeMap::new())
    }

    /// Draws a ticket that has a series of its own, or one of the last tickets of a client's series,
    /// mostly this client's.
    fn ticket(&mut self, client: u128) -> u128 {
        if self.0.bool() {
            return 1 + u128::from(self.0.u64(..ALONE));
        }
        let of_another = 1 + u128::from(self.0.u64(..CLIENTS));
        let series = SERIES + if self.0.u64(..8) == 0 { of_another } else { client };
        let last = self.1.entry(series).or_insert(1);
        *last += u128::from(self.0.u64(..3) == 0);
        of(series, last.saturating_sub(u128::from(self.0.u64(..5))).max(1))
    }

    fn span(&mut self) -> Micros {
        match self.0.u64(..12) {
            0 => 40 * SECOND,
            1 => 3_600 * SECOND,
            n => n * SECOND / 4,
        }
    }

    fn limit(&mut self) -> Limit {
        Limit::new(self.0.u32(..7)).unwrap()
    }

    fn want(&mut self, client: u128) -> Acquire {
        let ticket = self.ticket(client);
        let rule = [OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set][self.0.usize(..3)];
        let limit = stating(ticket, self.0.u32(..7), rule).limit;
        let most = (self.0.u64(..4) == 0).then(|| self.0.u32(..6));
        let wishes = WISHES[self.0.usize(..8)];
        Acquire {
            wishes: wishes.parse().unwrap(),
            kind: if self.0.u64(..12) == 0 { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::new(self.0.u32(1..=3)).unwrap(),
            limit: limit.filter(|_| self.0.u64(..4) == 0),
            enqueue: if self.0.u64(..5) == 0 {
                Enqueue::No
            } else {
                Enqueue::Yes { max_waiting: most }
            },
            priority: Priority::new(self.0.i32(-2..3)).unwrap(),
            ttl: 10 * SECOND,
            margin: 2_500_000,
            ..want(ticket)
        }
    }

    fn request(&mut self, client: u128) -> Request {
        let ticket = self.ticket(client);
        match self.0.u64(..20) {
            0..=7 => Request::Acquire(self.want(client)),
            8..=10 => release(ticket),
            11 => release_slots(ticket, ["0", "1-2", "0,3-4"][self.0.usize(..3)]),
            12..=13 => renew(SERIES + client, &[ticket, self.ticket(client), self.ticket(client)]),
            14 => renew_all(ticket, &[ticket], 10 * SECOND),
            15 => cancel(ticket),
            16 => evict(ticket),
            17 if self.0.bool() => Request::Configure(Configure::Limit(self.limit())),
            17 => naming(NAMINGS[self.0.usize(..5)]),
            18 if self.0.u64(..3) == 0 => Request::Configure(Configure::Pause(String::from("p"))),
            18 => Request::Configure(Configure::Resume),
            _ => Request::Configure(Configure::Unpin),
        }
    }

    /// Lets time pass, sets the clock, or lets clients come and go.
    fn disturb(&mut self, world: &mut World) {
        match self.0.u64(..10) {
            0 => world.now -= self.span().min(world.now),
            1..=4 => world.now += self.span(),
            5 => {
                let contacts = [Contact::Dead, Contact::Silent, Contact::Listening, Contact::Alive];
                let client = 1 + u128::from(self.0.u64(..CLIENTS));
                world.contacts.0.insert(client, contacts[self.0.usize(..4)]);
            }
            _ => world.now += 1,
        }
    }
}

/// The facts of earlier steps that the judge needs.
struct Judge {
    before: Snapshot,
    last_fence: u64,
    fences: BTreeMap<Ticket, Fence>,
}

impl Judge {
    fn new(world: &mut World) -> Self {
        Self { before: world.snapshot(), last_fence: 0, fences: BTreeMap::new() }
    }

    fn judge(&mut self, world: &mut World, request: &Request, replies: &Replies) {
        let after = world.peek();
        self.at_most_the_limit(&after);
        if self.before.slot_names.is_empty() {
            self.nobody_is_passed(&after, request);
        } else {
            self.nobody_is_robbed(&after, request);
        }
        self.fences_grow(world, &after);
        why::everybody_is_told_the_truth(&after);
        assert_eq!(after.contradictions(u32::MAX), Vec::<String>::new(), "{after:?}");
        if !replies.backlog {
            nobody_waits_for_nothing(&after);
            assert!(world.state.check().is_ok());
        }
        self.before = after;
    }

    fn at_most_the_limit(&self, after: &Snapshot) {
        let most = self.before.held.max(self.before.limit).max(after.limit);
        assert!(after.held <= most, "{} held of {most}", after.held);
    }

    /// Checks that a waiter that keeps its place in line stood behind all that were served.
    fn nobody_is_passed(&self, after: &Snapshot, request: &Request) {
        let in_line = |row: &&WaiterRow| !row.unreachable;
        let waits = |ticket| after.waiters.iter().filter(in_line).any(|row| row.ticket == ticket);
        let asks = |t| matches!(request, Request::Acquire(want) if want.ticket == t);
        let holds = |ticket| after.holders.iter().any(|row| row.ticket == ticket);
        let line: Vec<_> =
            self.before.waiters.iter().filter(in_line).map(|row| row.ticket).collect();
        let stays = line.iter().position(|ticket| waits(*ticket) && !asks(*ticket));
        let served = line.iter().rposition(|ticket| holds(*ticket));
        assert!(stays.is_none() || served < stays, "{line:?}: {served:?} passed {stays:?}");
    }

    fn fences_grow(&mut self, world: &mut World, after: &Snapshot) {
        let held: BTreeMap<_, _> =
            after.holders.iter().map(|row| (row.ticket, row.fence)).collect();
        let fresh = held.iter().filter(|(ticket, fence)| self.fences.get(ticket) != Some(fence));
        let mut fresh: Vec<_> = fresh.map(|(_, fence)| fence.0).collect();
        fresh.sort_unstable();
        for fence in fresh {
            assert!(fence > self.last_fence, "fence {fence} after {}", self.last_fence);
            self.last_fence = fence;
        }
        world.fence_seen = self.last_fence;
        self.fences = held;
    }

    /// Checks that a waiter that is served before one that stays in line has no slot that the other
    /// wishes for, and that the other wishes for a held slot. A waiter that was in line and wished
    /// for slots has them, unless it asks for other slots now.
    fn nobody_is_robbed(&self, after: &Snapshot, request: &Request) {
        let asks = |t| matches!(request, Request::Acquire(want) if want.ticket == t);
        let held = |ticket| after.holders.iter().find(|row| row.ticket == ticket);
        let line = self.before.waiters.iter().filter(|row| !row.unreachable);
        let mut stays: Vec<&WaiterRow> = Vec::new();
        for row in line {
            if let Some(holder) = held(row.ticket) {
                let has_its_wish = holder.slots.contains(&row.wishes) || asks(row.ticket);
                assert!(has_its_wish, "{row:?} got {holder:?}");
                for earlier in &stays {
                    let has_its_wish = after.holders.iter().any(|row| wants(earlier, &row.slots));
                    assert!(has_its_wish, "{row:?} passed {earlier:?}");
                    assert!(!wants(earlier, &holder.slots), "{row:?} robbed {earlier:?}");
                }
            }
            let here = after.waiters.iter().find(|here| here.ticket == row.ticket);
            if here.is_some_and(|here| !here.unreachable && !asks(here.ticket)) {
                stays.push(row);
            }
        }
    }
}

/// Returns whether the waiter wishes for some of these slots.
fn wants(row: &WaiterRow, slots: &Slots) -> bool {
    !row.wishes.clone().take(slots).is_empty()
}

/// Checks that the first waiter in line lacks permits, or a slot that it wishes for.
fn nobody_waits_for_nothing(after: &Snapshot) {
    let Some(first) = after.waiters.first().filter(|first| !first.unreachable) else { return };
    if after.paused.is_none() && after.held < after.limit {
        let free = after.limit - after.held;
        let lacks_slots = after.holders.iter().any(|holder| wants(first, &holder.slots));
        assert!(first.permits > free || lacks_slots, "{first:?} waits while {free} are free");
        assert!(first.permits <= after.limit, "{first:?} waits for ever");
    }
}

impl World {
    /// Returns a snapshot of the present state. A look at the state itself would settle it, and so
    /// change it.
    fn peek(&self) -> Snapshot {
        self.copy().snapshot()
    }

    fn copy(&self) -> Self {
        let (state, contacts) =
            (self.state.clone(), Oracle(self.contacts.0.clone(), self.contacts.1));
        Self { state, contacts, now: self.now, fence_seen: 0 }
    }
}

fn history(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut world = World::new();
    let mut judge = Judge::new(&mut world);
    for _ in 0..STEPS {
        dice.disturb(&mut world);
        let client = u128::from(dice.0.u64(..CLIENTS + 1));
        let request = dice.request(client);
        let replies = world.send(client, vec![request.clone()]).replies;
        judge.judge(&mut world, &request, &replies);
        why::what_is_foretold_comes_true(world.copy(), dice.limit().get());
    }
    everything_ends(&mut world);
}

/// Checks that when all clients are gone nothing is left but the settings.
fn everything_ends(world: &mut World) {
    for client in 1..=u128::from(CLIENTS) {
        world.contacts.0.insert(client, Contact::Dead);
    }
    world.now = world.now.max(world.fence_seen); // a name is kept until the clock has passed its last fence
    for _ in 0..100 {
        world.pass(60 * SECOND);
    }
    // While anybody holds or waits, names of slots cannot be unset.
    let undo = [Configure::Resume, Configure::Unpin].map(Request::Configure);
    world.send(0, undo.to_vec());
    world.pass(60 * SECOND);
    assert!(world.state.is_empty(), "left behind: {:?}", world.state);
}

#[test]
fn the_rules_hold_after_every_step_of_any_history() {
    for seed in 1..=SEEDS {
        let run = std::panic::catch_unwind(|| history(seed));
        assert!(run.is_ok(), "seed {seed}");
    }
}
