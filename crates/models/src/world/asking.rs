//! The rule about asks, implemented a second time: which asks a store keeps, and whether holders
//! hear them.

use std::collections::{BTreeMap, BTreeSet};

use seinpaal_proto::{
    AskHolder, Batch, Cause, Entry, HandOverAsk, LeaseId, MemoryState, Reply, Request, StoredAsk,
    Ticket, session::AcquireRefusal,
};

use super::{
    Broken, World,
    step::{Step, fence_of},
};

/// The number of asks that a store keeps about one grant.
const MOST: usize = 8;

/// A ticket, and the fence of its grant.
type GrantId = (Ticket, u64);
/// A grant, and the person that asked for it.
type AskAbout = (Ticket, u64, String);

/// The asks about grants by the rules, and the asks that the holders have heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedGrants {
    /// The last people that asked about each grant, in order.
    kept: BTreeMap<GrantId, Vec<String>>,
    /// All asks that were ever accepted: holders may be told of these.
    accepted: BTreeSet<AskAbout>,
    heard: BTreeSet<AskAbout>,
    /// The grants that the answer in hand has renewed. Empty between steps.
    renewed: Vec<GrantId>,
}

/// Returns an ask of the models. Asks differ only in their author. The lease follows from the
/// ticket and the author, so that two asks of one author look like a request and its copy.
pub(super) fn request(ticket: Ticket, by: &str) -> Request {
    let ask = HandOverAsk::new(by, "please").unwrap_or_else(|_| unreachable!("good texts"));
    let of = by.bytes().fold(0, |sum, byte| sum * 256 + u128::from(byte));
    let lease = LeaseId(ticket.0 ^ ((1 << 127) + (of << 32)));
    Request::AskHolder(AskHolder { ticket, lease, ask })
}

impl AskedGrants {
    /// Follows a step of one request or none, before which everything due was settled. Returns
    /// whether the step did what an ask may do and no more, and lost no ask.
    pub(super) fn follow(&mut self, step: &Step<'_>) -> bool {
        let request = step.batch.requests.first().zip(step.replies.first());
        let is_right = match request {
            Some((Request::AskHolder(asked), reply)) => self.ask(step, asked, reply),
            _ => true,
        };
        let stands = |grant: &GrantId| holder(step.after, grant.0, grant.1).is_some();
        self.kept.retain(|grant, _| stands(grant));
        is_right && step.after.entries().all(|entry| asks_of(entry) == self.of(entry))
    }

    fn of(&self, entry: &Entry) -> Vec<String> {
        let fence = fence_of(entry);
        let kept = fence.and_then(|fence| self.kept.get(&(entry.ticket, fence)));
        kept.cloned().unwrap_or_default()
    }

    fn ask(&mut self, step: &Step<'_>, asked: &AskHolder, reply: &Reply) -> bool {
        let ticket = asked.ticket;
        let before = step.before.entries().find(|entry| entry.ticket == ticket);
        let fence = before.and_then(fence_of);
        let (Some(before), Some(fence)) = (before, fence) else {
            return has_none(reply, before.is_some()) && are_same(step, None);
        };
        let by = asked.ask.by().to_owned();
        let kept = self.kept.entry((ticket, fence)).or_default();
        let is_new = !kept.contains(&by);
        if is_new {
            kept.push(by.clone());
            kept.drain(..kept.len().saturating_sub(MOST));
            self.accepted.insert((ticket, fence, by));
        }
        *reply == Reply::Asked { ticket }
            && stays(step, before)
            && are_same(step, is_new.then_some(ticket))
    }

    /// Notes that the program of this grant was told of an ask. Returns whether such an ask exists
    /// and is told for the first time.
    fn hear(&mut self, grant: GrantId, by: &str) -> bool {
        let asked = (grant.0, grant.1, by.to_owned());
        self.accepted.contains(&asked) && self.heard.insert(asked)
    }

    fn has_heard(&self, grant: GrantId, all: &[String]) -> bool {
        all.iter().all(|by| self.heard.contains(&(grant.0, grant.1, by.clone())))
    }

    /// All asks, with fences, for the fingerprint.
    pub(super) fn facts(&self) -> impl Iterator<Item = (Ticket, u64, &str, bool, bool)> {
        self.accepted.iter().map(|asked| {
            let (ticket, fence, by) = asked;
            let kept = self.kept.get(&(*ticket, *fence)).is_some_and(|kept| kept.contains(by));
            (*ticket, *fence, by.as_str(), kept, self.heard.contains(asked))
        })
    }
}

/// The asks that a store had about each grant of a client when it answered a renewal.
pub(crate) type AskedThen = Vec<(GrantId, Vec<String>)>;

impl World {
    /// Returns the asks that the answer to a client's renewal has, if the store answers now.
    pub(super) fn asked_of(&self, who: usize, batch: &Batch) -> AskedThen {
        let Some(asking) = &self.ghost.asking else { return Vec::new() };
        if !batch.requests.iter().any(|request| matches!(request, Request::Renew(_))) {
            return Vec::new();
        }
        let is_its = |grant: &&GrantId| {
            let holder = holder(&self.ledger, grant.0, grant.1);
            holder.is_some_and(|entry| entry.inbox == Some(self.clients[who].inbox))
        };
        let its = asking.kept.keys().filter(is_its);
        its.map(|grant| (*grant, asking.kept[grant].clone())).collect()
    }

    /// Notes that a program may believe in its permit for longer.
    pub(super) fn hear_renewal(&mut self, who: usize, ticket: Ticket) {
        let held = self.clients[who].held.iter().find(|held| held.ticket == ticket);
        if let (Some(asking), Some(held)) = (&mut self.ghost.asking, held) {
            asking.renewed.push((ticket, held.fence));
        }
    }

    /// Judges a client that has taken the answers of a call. A client whose permit was renewed has
    /// heard what had been asked about it by then.
    pub(super) fn judge_hearing(&mut self, then: &AskedThen) {
        let Some(asking) = &mut self.ghost.asking else { return };
        let renewed = std::mem::take(&mut asking.renewed);
        let is_unheard = |(grant, all): &(GrantId, Vec<String>)| {
            renewed.contains(grant) && !asking.has_heard(*grant, all)
        };
        if then.iter().any(is_unheard) {
            self.ghost.broken = self.ghost.broken.or(Some(Broken::Asking));
        }
    }

    pub(super) fn hear_ask(&mut self, who: usize, ticket: Ticket, ask: &HandOverAsk) {
        let held = self.clients[who].held.iter().find(|held| held.ticket == ticket);
        let grant = held.map(|held| (ticket, held.fence));
        let asking = self.ghost.asking.as_mut();
        if !asking.is_some_and(|asking| grant.is_some_and(|grant| asking.hear(grant, ask.by()))) {
            self.ghost.broken = self.ghost.broken.or(Some(Broken::Asking));
        }
    }

    /// Judges a refusal that says that another client has attached to the ticket. An ask must not
    /// hide from a client that the ticket is its own.
    pub(super) fn judge_refusal(&mut self, who: usize, ticket: Ticket, refusal: &AcquireRefusal) {
        let inbox = Some(self.clients[who].inbox);
        let is_its = self.holders().any(|entry| (entry.ticket, entry.inbox) == (ticket, inbox));
        let is_denied = is_its && *refusal == AcquireRefusal::Ended(Cause::Attached);
        if is_denied && self.ghost.asking.is_some() {
            self.ghost.broken = self.ghost.broken.or(Some(Broken::Asking));
        }
    }

    /// Returns whether a program rightly believes in a permit and has not heard what was asked
    /// about it.
    pub(super) fn is_anybody_unheard(&self) -> bool {
        let Some(asking) = &self.ghost.asking else { return false };
        self.beliefs().any(|(who, held)| {
            let grant = (held.ticket, held.fence);
            let kept = asking.kept.get(&grant);
            self.is_so(who, held) && kept.is_some_and(|kept| !asking.has_heard(grant, kept))
        })
    }
}

fn holder(ledger: &MemoryState, ticket: Ticket, fence: u64) -> Option<&Entry> {
    let is_it = |entry: &&Entry| entry.ticket == ticket && fence_of(entry) == Some(fence);
    ledger.entries().find(is_it)
}

fn asks_of(entry: &Entry) -> Vec<String> {
    StoredAsk::list(&entry.about).iter().map(|stored| stored.ask.by().to_owned()).collect()
}

/// Returns whether a reply is the one for a ticket that does not hold.
fn has_none(reply: &Reply, waits: bool) -> bool {
    match reply {
        Reply::Queued { .. } => waits,
        Reply::Ended { .. } | Reply::Unknown { .. } => !waits,
        _ => false,
    }
}

/// Returns whether an ask moved no permit, and its lease ends when it would have ended.
fn stays(step: &Step<'_>, before: &Entry) -> bool {
    let after = step.after.entries().find(|entry| entry.ticket == before.ticket);
    let of = |ledger: &MemoryState| {
        let lease = ledger.lease_under(before.ticket);
        lease.map(|lease| (lease.inbox, lease.ttl, lease.ends, lease.ends_wall))
    };
    after.is_some_and(|after| (after.inbox, &after.standing) == (before.inbox, &before.standing))
        && of(step.before) == of(step.after)
}

/// Returns whether all holders and waiters are as they were, except for the one that is asked.
fn are_same(step: &Step<'_>, but: Option<Ticket>) -> bool {
    let others = |ledger: &MemoryState| -> Vec<Entry> {
        ledger.entries().filter(|entry| Some(entry.ticket) != but).cloned().collect()
    };
    others(step.before) == others(step.after)
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::{
        Acquire, Enqueue, Inbox, Kind, Name, Permits, Priority, SlotNames, State, execute,
        time::SECOND,
    };

    use super::*;
    use crate::world::serve::Known;

    const ASKED: Ticket = Ticket(1);

    fn acquire() -> Request {
        Request::Acquire(Acquire {
            ticket: ASKED,
            kind: Kind::Semaphore,
            permits: Permits::ONE,
            wishes: SlotNames::none(),
            limit: None,
            enqueue: Enqueue::No,
            priority: Priority::default(),
            lease: ASKED.into(),
            ttl: 8 * SECOND,
            margin: 2 * SECOND,
            waiter_lease: Ticket(2).into(),
            waiter_ttl: SECOND,
            not_after: None,
            about: String::new(),
        })
    }

    /// Returns whether the judge accepts an ask if this happens to the ledger in the same step.
    fn is_content_with(mistake: impl FnOnce(&mut MemoryState)) -> bool {
        let (mut asking, mut ledger) = (AskedGrants::default(), MemoryState::default());
        let mut mistake = Some(mistake);
        let mut step = |inbox, request| {
            let (name, before) = (Name::new("n").expect("a name"), ledger.clone());
            let is_ask = matches!(request, Request::AskHolder(_));
            let batch = Batch { name, inbox, fence_seen: 0, requests: vec![request] };
            let Ok(outcome) = execute(&mut ledger, &mut Known(&[]), 1000 * SECOND, &batch);
            if is_ask {
                mistake.take().into_iter().for_each(|mistake| mistake(&mut ledger));
            }
            let replies = &outcome.replies.replies;
            asking.follow(&Step { before: &before, after: &ledger, batch: &batch, replies })
        };
        assert!(step(Some(Inbox(1)), acquire()));
        step(None, request(ASKED, "eve"))
    }

    fn change(ledger: &mut MemoryState, change: impl FnOnce(&mut Entry)) {
        let Ok(entry) = ledger.entry(ASKED);
        let mut entry = entry.expect("a holder");
        change(&mut entry);
        let Ok(()) = ledger.put_entry(&entry);
    }

    #[test]
    fn an_ask_that_is_lost_or_moves_the_permit_or_cuts_its_lease_is_found() {
        assert!(is_content_with(|_| {}));
        assert!(!is_content_with(|ledger| change(ledger, |entry| entry.about.clear())));
        assert!(!is_content_with(|ledger| change(ledger, |entry| entry.inbox = None)));
        assert!(!is_content_with(|ledger| {
            let mut lease = ledger.lease_under(ASKED).cloned().expect("a lease");
            lease.ends -= SECOND;
            let Ok(()) = ledger.put_lease(&lease);
        }));
    }
}
