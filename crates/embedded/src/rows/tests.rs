//! Rows against B-trees: the same random history through both, compared answer by answer.

mod damage;

use std::collections::BTreeSet;

use fastrand::Rng;
use rusqlite::Connection;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Contact, Contacts, Enqueue, Fence, Inbox, Kind, LeaseId,
    Limit, LimitRule, MemoryState, Name, OnMismatch, Permits, Priority, Renew, Request, SlotNames,
    Slots, State, Ticket, Whom, execute,
    time::{SECOND, UNBOUNDED},
};

use super::Rows;

/// Requests that follow from a seed.
pub(in super::super) struct Random(Rng);

impl Random {
    pub(in super::super) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub(in super::super) fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }

    /// Returns a ticket with high bytes as well as low ones, so that the order of blobs matters.
    fn ticket(&mut self) -> Ticket {
        let series = self.below(12);
        let number = if series < 3 { 1 + self.below(4) } else { 1 };
        Ticket(u128::from(series) << 120 | u128::from(number))
    }

    /// Returns the lease of a ticket or of its place, or one under which renewals gather tickets.
    fn lease(&mut self) -> LeaseId {
        match self.below(4) {
            0 => self.ticket().place(),
            1 => LeaseId(u128::from(self.below(3)) << 64),
            _ => self.ticket().lease(),
        }
    }

    fn request(&mut self) -> Request {
        let (ticket, remember) = (self.ticket(), SECOND);
        match self.below(17) {
            0..=4 => Request::Acquire(Acquire { wishes: self.wishes(), ..self.acquire() }),
            5 => Request::Renew(self.renew()),
            6 | 7 => Request::Release { ticket, slots: None },
            8 => Request::Release { ticket, slots: Some(Slots::range(0, 1)) },
            9 => Request::Cancel { ticket, remember, attach: None },
            10 => Request::Cancel { ticket, remember, attach: Some(self.attaching()) },
            11 => Request::Evict { ticket },
            12 | 13 => Request::Attach(self.attach()),
            14 => self.detach(ticket),
            15 => Request::Inspect { rows: 5 },
            _ => Request::Configure(self.configure()),
        }
    }

    /// Returns the lease of an attach. There are so few that one comes twice, now and then.
    fn attaching(&mut self) -> LeaseId {
        LeaseId(1 << 100 | u128::from(self.below(300)))
    }

    fn detach(&mut self, ticket: Ticket) -> Request {
        let fence = Fence(self.0.choice([0, UNBOUNDED]).unwrap());
        Request::Detach { ticket, fence, ttl: 10 * SECOND, margin: SECOND }
    }

    fn attach(&mut self) -> Attach {
        Attach {
            ticket: self.ticket(),
            lease: self.attaching(),
            ttl: (1 + self.below(20)) * SECOND,
            margin: self.below(5) * SECOND + 1,
            not_after: None,
            about: format!("heir\u{1f}{}", self.below(100)),
        }
    }

    fn rule(&mut self) -> LimitRule {
        let limit = Limit::new(self.below(5) as u32).unwrap();
        let on_mismatch = match self.below(6) {
            0 => OnMismatch::Refuse,
            1 => OnMismatch::Adopt,
            2 => OnMismatch::Exact,
            _ => OnMismatch::Set,
        };
        LimitRule { limit, on_mismatch }
    }

    pub(in super::super) fn acquire(&mut self) -> Acquire {
        let rule = self.rule();
        Acquire {
            ticket: self.ticket(),
            kind: if self.below(12) == 0 { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::new(1 + self.below(3) as u32).unwrap(),
            wishes: SlotNames::none(),
            limit: (self.below(4) == 0).then_some(rule),
            enqueue: if self.below(4) == 0 {
                Enqueue::No
            } else {
                Enqueue::Yes { max_waiting: None }
            },
            priority: Priority::new(self.below(3) as i32 - 1).unwrap(),
            ttl: (1 + self.below(20)) * SECOND,
            margin: self.below(5) * SECOND + 1,
            waiter_ttl: 10 * SECOND,
            not_after: None,
            about: format!("client\u{1f}{}", self.below(100)),
        }
    }

    fn wishes(&mut self) -> SlotNames {
        ["", "", "", "", "", "", "", "a", "b", "c"][self.below(10) as usize].parse().unwrap()
    }

    fn renew(&mut self) -> Renew {
        let (lease, whom) = match self.below(3) {
            0 => {
                let ticket = self.ticket();
                let lease = if self.below(2) == 0 { ticket.lease() } else { ticket.place() };
                (lease, Whom::All { members: self.below(3) as u32, digest: ticket.digest() })
            }
            _ => (self.lease(), Whom::Tickets(vec![self.ticket(), self.ticket()])),
        };
        Renew { lease, ttl: 10 * SECOND, margin: SECOND, whom }
    }

    fn configure(&mut self) -> Configure {
        match self.below(7) {
            5 => Configure::Slots(
                ["a,b", "a,b,c,d", "b,a", "c"][self.below(4) as usize].parse().unwrap(),
            ),
            0 => Configure::Unpin,
            1 => Configure::Pause("why \u{e9}".to_owned()),
            2 => Configure::Limit(Limit::new(self.below(6) as u32).unwrap()),
            _ => Configure::Resume,
        }
    }
}

#[derive(Clone)]
pub(in super::super) struct Oracle(pub(in super::super) u64);

impl Contacts for Oracle {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        match (self.0 >> (inbox.0 as u64 % 16)) % 8 {
            0 => Contact::Dead,
            1 | 2 => Contact::Silent,
            3 => Contact::Alive,
            _ => Contact::Listening,
        }
    }
}

pub(in super::super) fn database() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.set_prepared_statement_cache_capacity(64);
    db.execute_batch(&crate::tables::schema()).unwrap();
    db
}

pub(in super::super) fn random_batch(random: &mut Random, names: &[Name]) -> Batch {
    let name = names[random.below(names.len() as u64) as usize].clone();
    let inbox = (random.below(5) > 0).then(|| Inbox(u128::from(random.below(4)) << 100));
    let requests = (0..random.below(4)).map(|_| random.request()).collect();
    Batch { name, inbox, fence_seen: 0, requests }
}

fn run_history(seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let names = ["a", "b"].map(|name| Name::new(name).unwrap());
    let (db, mut states) = (database(), [MemoryState::default(), MemoryState::default()]);
    let mut now = 1000 * SECOND;
    for step in 0..steps {
        now = (now + random.below(4 * SECOND)).saturating_sub(random.below(SECOND));
        let batch = random_batch(&mut random, &names);
        let oracle = Oracle(random.below(u64::MAX));
        let memory = &mut states[names.iter().position(|name| *name == batch.name).unwrap()];
        let expected = execute(memory, &mut oracle.clone(), now, &batch).unwrap();
        let mut rows = Rows::open(&db, &batch.name).unwrap();
        let found = execute(&mut rows, &mut oracle.clone(), now, &batch).unwrap();
        assert_eq!(found, expected, "seed {seed}, step {step}: {batch:?}");
        compare(&mut rows, memory, seed, step);
    }
}

pub(in super::super) fn compare(
    rows: &mut Rows<'_>,
    memory: &mut MemoryState,
    seed: u64,
    step: u32,
) {
    let at = format!("seed {seed}, step {step}");
    assert_eq!(rows.head().unwrap(), memory.head().unwrap(), "{at}");
    assert_eq!(rows.holders(100).unwrap(), memory.holders(100).unwrap(), "{at}");
    assert_eq!(rows.waiters(100).unwrap(), memory.waiters(100).unwrap(), "{at}");
    let leases = (rows.first_lease_by_end().unwrap(), rows.first_lease_by_wall().unwrap());
    let expected = (memory.first_lease_by_end().unwrap(), memory.first_lease_by_wall().unwrap());
    assert_eq!(leases, expected, "{at}");
    assert_eq!(rows.first_memory().unwrap(), memory.first_memory().unwrap(), "{at}");
}

#[test]
fn rows_and_b_trees_give_the_same_answers_to_random_histories() {
    for seed in 0..20 {
        run_history(seed, 400);
    }
}

#[test]
fn the_random_histories_have_every_kind_of_request_in_them() {
    let mut random = Random::new(0);
    let names = [Name::new("a").unwrap()];
    let batches = (0..400).map(|_| random_batch(&mut random, &names));
    let kinds: BTreeSet<_> =
        batches.flat_map(|batch| batch.requests).map(|request| request.kind()).collect();
    assert_eq!(kinds, Request::KINDS.iter().copied().collect());
}

#[test]
fn a_name_that_fell_idle_leaves_no_rows() {
    let db = database();
    let name = Name::new("idle").unwrap();
    let mut random = Random::new(7);
    let run = |now, requests| {
        let batch = Batch { name: name.clone(), inbox: None, fence_seen: 0, requests };
        execute(&mut Rows::open(&db, &name).unwrap(), &mut Oracle(0), now, &batch).unwrap();
    };
    let mut want = random.acquire();
    want.limit = Some(LimitRule { limit: Limit::new(3).unwrap(), on_mismatch: OnMismatch::Set });
    run(SECOND, vec![Request::Acquire(want.clone())]);
    run(2 * SECOND, vec![Request::Release { ticket: want.ticket, slots: None }]);
    run(3600 * SECOND, vec![]);
    run(7200 * SECOND, vec![]);
    for table in ["name", "lease", "entry", "memory", "free"] {
        let count: i64 =
            db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "rows left in {table}");
    }
}

#[test]
fn every_statement_finds_its_rows_by_an_index() {
    let db = database();
    for sql in [
        "SELECT 1 FROM lease WHERE name = 1 ORDER BY ends, id LIMIT 1",
        "SELECT 1 FROM lease WHERE name = 1 ORDER BY ends_wall, id LIMIT 1",
        "UPDATE lease SET ends = 0 WHERE inbox = x'00'",
        "SELECT 1 FROM entry WHERE name = 1 AND lease = x'00' ORDER BY ticket LIMIT 1",
        "SELECT about FROM entry WHERE name = 1 AND rank IS NOT NULL AND parked = 0
         ORDER BY rank, ticket LIMIT 1",
        "SELECT about FROM entry WHERE name = 1 AND rank IS NOT NULL
         ORDER BY parked, rank, ticket LIMIT 9",
        "SELECT about FROM entry WHERE name = 1 AND fence IS NOT NULL ORDER BY fence, ticket LIMIT 9",
        "SELECT min(inbox) FROM entry WHERE name = 1 AND fence IS NOT NULL AND inbox IS NOT NULL
         AND inbox > x''",
        "SELECT 1 FROM memory WHERE name = 1 AND open = 0 ORDER BY until, series LIMIT 1",
        "DELETE FROM free WHERE name = 1 AND first = (SELECT min(first) FROM free WHERE name = 1)",
    ] {
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> =
            explain.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        let plan = plan.join("; ");
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
}
