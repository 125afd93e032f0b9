//! The names at which this client listens, where it hears each one, and for how much longer.
//!
//! A client wants to hear a name from before its first acquire goes out until a while after its
//! last ticket has ended. Only the server's messages decide whether a name is heard. Everything
//! else here is bookkeeping.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use seinpaal_proto::{Batch, Replies, Reply, Request, Ticket, TicketReply, Whom, queue};
use tokio::time::Instant;

use super::hash_slots::NodeAddress;

/// How long a subscription outlives the last ticket, so that a client which comes and goes at a
/// name need not subscribe each time.
pub(super) const LINGER: Duration = Duration::from_secs(10);

/// A node, and the link to it over which something is heard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ListeningLink {
    pub(super) node: NodeAddress,
    pub(super) link: u64,
}

/// The channels that this client wants to hear, by their names.
#[derive(Debug, Default)]
pub(super) struct Ears(Mutex<HashMap<String, Ear>>);

#[derive(Debug)]
struct Ear {
    hash_slot: u16,
    tickets: HashSet<Ticket>,
    at: Option<ListeningLink>,
    /// Whether the channel was heard before. If so, wakeups may have been lost in the gap.
    was_heard: bool,
    used: Instant,
    lasts: Duration,
    /// The longest ttl of a ticket here.
    longest_ttl: Duration,
}

impl Ears {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Ear>> {
        // A poisoned lock does no harm, since nothing in here is left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note that the client wants to hear of these tickets, none of which lasts longer than
    /// `ttl` from now on unless it is renewed. Returns where the channel is heard already, if
    /// anywhere.
    pub(super) fn want(
        &self,
        channel: &str,
        hash_slot: u16,
        tickets: impl IntoIterator<Item = Ticket>,
        ttl: Duration,
    ) -> Option<ListeningLink> {
        self.want_more(channel, hash_slot, |ear| {
            ear.tickets.extend(tickets);
            ear.longest_ttl = ear.longest_ttl.max(ttl);
        })
    }

    /// Takes note that the client wants to hear of a queue for at least so long from now on.
    /// Returns where the channel is heard already, if anywhere.
    pub(super) fn want_for(
        &self,
        channel: &str,
        hash_slot: u16,
        lasts: Duration,
    ) -> Option<ListeningLink> {
        self.want_more(channel, hash_slot, |ear| {
            // A shorter want does not end an earlier one.
            let left = (ear.used + ear.lasts).saturating_duration_since(Instant::now());
            ear.lasts = lasts.max(left);
        })
    }

    fn want_more(
        &self,
        channel: &str,
        hash_slot: u16,
        more: impl FnOnce(&mut Ear),
    ) -> Option<ListeningLink> {
        let mut all = self.all();
        // The name of the channel is copied only when it is new.
        if !all.contains_key(channel) {
            all.insert(channel.to_owned(), Ear::new(hash_slot));
        }
        let ear = all.get_mut(channel)?;
        more(ear);
        ear.used = Instant::now();
        ear.at.clone()
    }

    /// Takes note that these tickets are over.
    pub(super) fn release(&self, channel: &str, tickets: &[Ticket]) {
        if let Some(ear) = self.all().get_mut(channel) {
            for ticket in tickets {
                ear.tickets.remove(ticket);
            }
            ear.used = Instant::now();
        }
    }

    /// Takes note of the server's message that this client listens. Returns whether wakeups may
    /// have been missed since it listened last.
    pub(super) fn listens(&self, channel: &str, at: ListeningLink) -> bool {
        let mut all = self.all();
        let Some(ear) = all.get_mut(channel) else { return false };
        // An answer of a link that was late may come after that of the link in its place.
        let is_outdated = |now: &ListeningLink| now.node == at.node && now.link > at.link;
        if ear.at.as_ref().is_some_and(is_outdated) {
            return false;
        }
        let is_back = ear.was_heard && ear.at.as_ref() != Some(&at);
        (ear.was_heard, ear.at) = (true, Some(at));
        is_back
    }

    /// Takes note of the server's message that this client no longer listens. Returns whether it
    /// should.
    pub(super) fn listens_no_more(&self, channel: &str, link: u64) -> bool {
        let mut all = self.all();
        let ear = all.get_mut(channel).filter(|ear| ear.is_over(link));
        ear.is_some_and(|ear| ear.at.take().is_some())
    }

    /// Takes note that the link is lost. Returns whether anything was heard over it.
    pub(super) fn lose(&self, link: u64) -> bool {
        let mut all = self.all();
        let lost = all.values_mut().filter(|ear| ear.is_over(link));
        lost.map(|ear| ear.at = None).count() > 0
    }

    /// Returns whether something is heard over this link.
    pub(super) fn uses(&self, link: u64) -> bool {
        self.all().values().any(|ear| ear.is_over(link))
    }

    /// The channels that are wanted and that no link hears at the owner of its hash slot.
    pub(super) fn deaf(&self, owner: impl Fn(u16) -> Option<NodeAddress>) -> Vec<(String, u16)> {
        let all = self.all();
        let deaf = all.iter().filter(|(_, ear)| {
            let node = ear.at.as_ref().map(|at| &at.node);
            node.is_none() || node != owner(ear.hash_slot).as_ref()
        });
        deaf.map(|(channel, ear)| (channel.clone(), ear.hash_slot)).collect()
    }

    /// Gives up the channels at which nobody has had a ticket for a while. Returns them, and where
    /// each was heard. A ticket that has not been renewed for its ttl is over: the session may have
    /// given it up without an answer.
    pub(super) fn give_up_idle(&self, now: Instant) -> Vec<(String, Option<ListeningLink>)> {
        let is_idle = |ear: &Ear| {
            let unused = now.duration_since(ear.used);
            unused >= ear.lasts && (ear.tickets.is_empty() || unused >= ear.longest_ttl)
        };
        let idle = self.all().extract_if(|_, ear| is_idle(ear)).collect::<Vec<_>>();
        idle.into_iter().map(|(channel, ear)| (channel, ear.at)).collect()
    }
}

impl Ear {
    fn new(hash_slot: u16) -> Self {
        Self {
            hash_slot,
            tickets: HashSet::new(),
            at: None,
            was_heard: false,
            used: Instant::now(),
            lasts: LINGER,
            longest_ttl: Duration::ZERO,
        }
    }

    fn is_over(&self, link: u64) -> bool {
        self.at.as_ref().is_some_and(|at| at.link == link)
    }
}

/// For how long a batch may give its sender a reason to listen at a queue, or `None` for not at
/// all. A place in line and a lease last for their ttl, and each renewal of them counts anew.
pub(super) fn listens_for(batch: &queue::Batch) -> Option<Duration> {
    let ttls = batch.requests.iter().filter_map(|request| match request {
        queue::Request::Pop(pop) => Some(pop.ttl),
        queue::Request::Renew(renew) => Some(renew.ttl),
        _ => None,
    });
    ttls.max().map(|ttl| Duration::from_micros(ttl.max(queue::PLACE_TTL)))
}

/// Returns whether a batch may give its sender something at the name.
pub(super) fn may_gain(batch: &Batch) -> bool {
    let gains = |request: &Request| {
        matches!(request, Request::Acquire(_) | Request::Attach(_) | Request::Renew(_))
    };
    batch.requests.iter().any(gains)
}

/// The tickets that a batch may give its sender.
pub(super) fn gained(batch: &Batch) -> Vec<Ticket> {
    let of = |request: &Request| match request {
        Request::Acquire(acquire) => vec![acquire.ticket],
        Request::Attach(attach) => vec![attach.ticket],
        Request::Renew(renew) => match &renew.whom {
            Whom::Tickets(tickets) => tickets.clone(),
            Whom::All { .. } => vec![],
        },
        _ => vec![],
    };
    batch.requests.iter().flat_map(of).collect()
}

/// How long a ticket of this batch may last, unless it is renewed.
pub(super) fn longest_ttl(batch: &Batch) -> Duration {
    let ttls = batch.requests.iter().map(|request| match request {
        Request::Acquire(acquire) => acquire.ttl.max(acquire.waiter_ttl),
        Request::Attach(attach) => attach.ttl,
        Request::Renew(renew) => renew.ttl,
        _ => 0,
    });
    Duration::from_micros(ttls.max().unwrap_or(0))
}

/// The tickets that, by the replies, the sender neither holds nor waits with any more.
pub(super) fn lost(batch: &Batch, replies: &Replies) -> Vec<Ticket> {
    let pairs = batch.requests.iter().zip(&replies.replies);
    pairs.flat_map(|(request, reply)| lost_by(request, reply)).collect()
}

fn lost_by(request: &Request, reply: &Reply) -> Vec<Ticket> {
    match (request, reply) {
        (Request::Renew(renew), Reply::Tickets { tickets, .. }) => {
            let Whom::Tickets(asked) = &renew.whom else { return vec![] };
            let over = asked.iter().zip(tickets).filter(|(_, reply)| is_over(reply));
            over.map(|(ticket, _)| *ticket).collect()
        }
        (_, Reply::Granted(_) | Reply::Queued { .. }) => vec![],
        (Request::Acquire(acquire), _) => vec![acquire.ticket],
        (Request::Attach(attach), _) => vec![attach.ticket],
        // The ticket still holds other slots.
        (Request::Release { .. }, Reply::Released { left, .. }) if *left > 0 => vec![],
        (
            Request::Release { ticket, .. }
            | Request::Cancel { ticket, .. }
            | Request::Detach { ticket, .. },
            _,
        ) => vec![*ticket],
        _ => vec![],
    }
}

fn is_over(reply: &TicketReply) -> bool {
    matches!(reply, TicketReply::Ended(_) | TicketReply::Unknown)
}

#[cfg(test)]
mod tests;
