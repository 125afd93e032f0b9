//! The one case that knows the answers beforehand: it sends the same requests to the ledger itself.

use std::time::Duration;

use fastrand::Rng;
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Inbox, Kind, LeaseId, MemoryState, OnMismatch, Permits, RecentHolds,
    Replies, Reply, Request, Ticket, execute,
};

use crate::{
    CaseStage, InboxClient,
    requests::{
        attach, cancel, detach, evict, give_up_attach, limit, pause, ranked, release,
        release_slots, renew, renew_all, resume, stating,
    },
    stage::{Everybody, random, source_of},
};

const STEPS: usize = 400;

/// The tickets and leases of one client. A ticket is asked for by its own client only, as every
/// session does. Then the others may do with it what they can.
struct Hand {
    inbox: Option<Inbox>,
    tickets: Vec<Ticket>,
    lease: LeaseId,
    /// The leases of its attaches. There are so few that one comes twice, now and then.
    attaches: [LeaseId; 12],
}

impl Hand {
    /// The hand of a client, or that of somebody without an inbox.
    fn of(client: Option<&InboxClient>) -> Self {
        let inbox = client.map(InboxClient::inbox);
        let mut source = source_of(inbox.unwrap_or_else(|| Inbox(random())));
        let shared = source.ticket().series();
        let alone = (0..3).map(|_| source.ticket()).collect::<Vec<_>>();
        let tickets = (1..=3).map(|number| shared.ticket(number)).chain(alone).collect();
        let (lease, attaches) = (source.lease(), std::array::from_fn(|_| source.lease()));
        Self { inbox, tickets, lease, attaches }
    }
}

/// Requests that follow from a seed.
struct PermitDice(Rng);

impl PermitDice {
    fn acquire(&mut self, ticket: Ticket) -> Acquire {
        let rule = self
            .0
            .choice([OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set, OnMismatch::Exact])
            .unwrap();
        let stated = stating(ticket, self.0.u32(..6), rule).limit;
        let most = self.0.choice([None, None, Some(3)]).unwrap();
        Acquire {
            kind: if self.0.u64(..12) == 0 { Kind::Mutex } else { Kind::Semaphore },
            permits: Permits::new(self.0.u32(1..=3)).unwrap(),
            wishes: seinpaal_proto::SlotNames::none(),
            limit: if self.0.u64(..4) == 0 { stated } else { None },
            enqueue: self.0.choice([Enqueue::No, Enqueue::Yes { max_waiting: most }]).unwrap(),
            about: format!("{{{}}}", self.0.u64(..10)),
            ..ranked(ticket, self.0.i32(-2..3))
        }
    }

    /// A request of the client with this hand. Most are about its own tickets.
    fn request(&mut self, own: &Hand, all: &[Hand]) -> Request {
        let hand = if self.0.u64(..4) == 0 { self.0.choice(all).unwrap() } else { own };
        let (one, other) =
            (*self.0.choice(&hand.tickets).unwrap(), *self.0.choice(&own.tickets).unwrap());
        match self.0.u64(..23) {
            0..=8 => Request::Acquire(self.acquire(other)),
            9..=11 => release(one),
            12 => release_slots(one, self.0.choice(["0", "1-2", "0,2-4"]).unwrap()),
            13 => renew(own.lease, &[one, other]),
            14 => renew_all(self.0.choice([own.lease, one.lease(), one.place()]).unwrap(), &[one]),
            15 => cancel(one),
            16 => evict(one),
            17 => limit(self.0.u32(..6)),
            18 => pause("p"),
            19 => resume(),
            20 => attach(one, self.0.choice(own.attaches).unwrap()),
            21 => detach(one),
            _ => give_up_attach(one, self.0.choice(own.attaches).unwrap()),
        }
    }
}

pub async fn a_random_history_is_answered_as_the_ledger_answers_it(stage: &CaseStage) {
    let seed = random() as u64 | 1;
    let (mut dice, mut state) = (PermitDice(Rng::with_seed(seed)), MemoryState::default());
    let clients = [stage.client().await, stage.client().await, stage.client().await];
    let hands = [0, 1, 2, 3].map(|who| Hand::of(clients.get(who)));
    for step in 0..STEPS {
        stage.advance(
            dice.0.choice([0, 1, 300, 4_000, 9_000, 60_000].map(Duration::from_millis)).unwrap(),
        );
        let who = dice.0.usize(..4);
        let hand = &hands[who];
        let mut requests: Vec<_> =
            (0..dice.0.usize(..5)).map(|_| dice.request(hand, &hands)).collect();
        // The tasks behind the requests of a batch do not wait for each other, so a store may answer
        // an inspection last. Which rows it lists if there are more is nowhere said.
        if dice.0.u64(..4) == 0 {
            requests.push(Request::Inspect { rows: 64 });
        }
        let batch = Batch { inbox: hand.inbox, ..clients[0].batch(requests) };
        let asked = clients[who.min(2)].call(&batch).await;
        let mut everybody = Everybody(stage.harness().contact());
        let Ok(known) = execute(&mut state, &mut everybody, stage.now(), &batch);
        assert_eq!(plain(asked), plain(known.replies), "seed {seed}, step {step}: {batch:#?}");
    }
}

/// Replies without the times that are only for display. Redis keeps no time of a grant, and shows
/// that of its fence.
fn plain(mut replies: Replies) -> Replies {
    for reply in &mut replies.replies {
        if let Reply::Snapshot(seen) = reply {
            seen.recent = RecentHolds::NONE;
            seen.holders.iter_mut().for_each(|row| row.held_for = 0);
            seen.waiters.iter_mut().for_each(|row| row.waiting_for = 0);
        }
    }
    replies
}
