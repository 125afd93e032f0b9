//! Releases and detaches: which callers wait for them, until when, and what closing the connection
//! does to them.

use std::{collections::BTreeSet, time::Duration};

use seinpaal_proto::{
    Fence, Slots, Ticket,
    time::{Micros, micros},
};
use tokio::sync::oneshot;

use super::{Closing, DetachResult, Driver, Giving, LAST_WORDS, ReleaseReply, tickets::ByNumber};
use crate::error::ReleaseError;

/// How long the store may take to confirm a release, unless the caller says otherwise.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// The slots that somebody gives back, whom to tell, and by when.
struct PendingRelease {
    slots: Slots,
    reply: Option<ReleaseReply>,
    answer_by: Micros,
}

/// Releases and detaches that were not answered yet.
#[derive(Default)]
pub(super) struct Releases {
    releases: ByNumber<Ticket, Vec<PendingRelease>>,
    detaches: ByNumber<Ticket, (Micros, oneshot::Sender<DetachResult>)>,
    overdue_at: BTreeSet<(Micros, Ticket)>,
}

impl Releases {
    pub(super) fn next_overdue(&self) -> Option<Micros> {
        self.overdue_at.first().map(|(at, _)| *at)
    }

    fn add(&mut self, ticket: Ticket, release: PendingRelease) {
        if release.reply.is_some() {
            // A release that nobody waits for has no time to be late.
            self.overdue_at.insert((release.answer_by, ticket));
        }
        match self.releases.get_mut(&ticket) {
            Some(releases) => releases.push(release),
            None => self.releases.insert(ticket, vec![release]),
        }
    }

    fn add_detach(
        &mut self,
        ticket: Ticket,
        answer_by: Micros,
        reply: oneshot::Sender<DetachResult>,
    ) {
        self.overdue_at.insert((answer_by, ticket));
        self.detaches.insert(ticket, (answer_by, reply));
    }

    /// Answers those releases of a ticket that are wanted.
    fn answer(
        &mut self,
        ticket: Ticket,
        answer: &Result<(), ReleaseError>,
        is_wanted: impl Fn(&PendingRelease) -> bool,
    ) {
        let Some(releases) = self.releases.get_mut(&ticket) else { return };
        for release in releases.extract_if(.., |release| is_wanted(release)) {
            if let Some(reply) = release.reply {
                self.overdue_at.remove(&(release.answer_by, ticket));
                // Nobody is left to be told if the future was dropped.
                let _ = reply.send(answer.clone());
            }
        }
        // Parts of a permit that were given back in the same microsecond share an entry of the set.
        let waiting = releases.iter().filter(|release| release.reply.is_some());
        self.overdue_at.extend(waiting.map(|release| (release.answer_by, ticket)));
        if releases.is_empty() {
            self.releases.remove(&ticket);
        }
    }

    pub(super) fn answer_detach(&mut self, ticket: Ticket, answer: DetachResult) -> bool {
        let Some((answer_by, reply)) = self.detaches.remove(&ticket) else { return false };
        self.overdue_at.remove(&(answer_by, ticket));
        let _ = reply.send(answer);
        true
    }
}

impl Driver {
    pub(super) fn release(&mut self, now: Micros, giving: Giving) {
        let Giving { ticket, fence, slots, timeout, reply } = giving;
        if !self.waiting.has_grant(ticket, fence) {
            reply.map(|reply| reply.send(Err(ReleaseError::NotHeld)));
            return;
        }
        let answer_by = now.saturating_add(micros(timeout));
        self.waiting
            .releases
            .add(ticket, PendingRelease { slots: slots.clone(), reply, answer_by });
        self.session.release(now, ticket, Some(slots));
    }

    pub(super) fn detach(
        &mut self,
        now: Micros,
        ticket: Ticket,
        fence: Fence,
        reply: oneshot::Sender<DetachResult>,
    ) {
        if self.waiting.has_grant(ticket, fence) {
            self.waiting.releases.add_detach(ticket, now + micros(ANSWER), reply);
            self.session.detach(now, ticket);
        } else {
            let _ = reply.send(Err(ReleaseError::NotHeld));
        }
    }

    /// A release was answered. `given`: only these slots went back, and the rest is told of later.
    pub(super) fn released(&mut self, ticket: Ticket, was_held: bool, given: Option<&Slots>) {
        let answer = if was_held { Ok(()) } else { Err(ReleaseError::NotHeld) };
        self.answer_releases(ticket, given, &answer);
    }

    fn answer_releases(
        &mut self,
        ticket: Ticket,
        given: Option<&Slots>,
        answer: &Result<(), ReleaseError>,
    ) {
        match given {
            Some(given) => {
                self.waiting.releases.answer(ticket, answer, |it| given.contains(&it.slots));
            }
            None => self.no_more_releases(ticket, answer),
        }
    }

    /// The permit is gone. Its releases that still wait have this answer.
    pub(super) fn no_more_releases(&mut self, ticket: Ticket, answer: &Result<(), ReleaseError>) {
        self.waiting.grants.remove(&ticket);
        self.waiting.releases.answer(ticket, answer, |_| true);
    }

    /// Tells the callers of a release or a detach that nobody can say whether it was executed.
    pub(super) fn unanswered(&mut self, ticket: Ticket, given: Option<&Slots>) {
        let unknown = self.unknown(ticket);
        self.answer_releases(ticket, given, &Err(unknown.clone()));
        self.waiting.releases.answer_detach(ticket, Err(unknown));
    }

    pub(super) fn answer_overdue_releases(&mut self, now: Micros) {
        while let Some(&(answer_by, ticket)) = self.waiting.releases.overdue_at.first()
            && answer_by <= now
        {
            self.waiting.releases.overdue_at.pop_first();
            let unknown = self.unknown(ticket);
            let is_overdue = |it: &PendingRelease| it.reply.is_some() && it.answer_by <= now;
            self.waiting.releases.answer(ticket, &Err(unknown.clone()), is_overdue);
            if self.waiting.releases.answer_detach(ticket, Err(unknown)) {
                // No caller heard that the ticket was detached, so it is released.
                self.waiting.grants.remove(&ticket);
                self.session.cancel(now, ticket);
            }
        }
    }

    /// The error of a release that nobody knows the outcome of. The lease is not renewed any more,
    /// so it ends a ttl after the last renewal that the store may have heard.
    fn unknown(&self, ticket: Ticket) -> ReleaseError {
        let grant = self.waiting.grants.get(&ticket);
        let at_most = match grant {
            Some(grant) if grant.remaining().is_none() => None,
            Some(grant) => Some(grant.ttl),
            None => Some(Duration::from_micros(self.session.config().ttl)),
        };
        ReleaseError::Unknown { at_most }
    }

    /// Each caller that waits learns that the connection is closed because its channel ends. What
    /// is held is lost to the program, and is given back.
    pub(super) fn close(&mut self, now: Micros) -> &mut Closing {
        let ttl = Duration::from_micros(self.session.config().ttl);
        let ttls = self.waiting.grants.values().map(|grant| grant.ttl);
        // Before the grants are drained: this is how long a caller waits at most until everything
        // is free.
        let longest = ttls.max().unwrap_or(ttl);
        self.session.close(now);
        self.queues.close();
        self.waiting.lose_grants();
        self.waiting.close();
        self.one_offs.close();
        self.store_tasks.clear();
        let give_up_at = now + micros(LAST_WORDS);
        let closing = Closing { longest, give_up_at, told: Vec::new() };
        // A second close waits for the end of the first.
        self.closing.get_or_insert(closing)
    }

    pub(super) fn closed_by(&self) -> Option<Micros> {
        let closing = self.closing.as_ref().filter(|closing| !closing.told.is_empty());
        closing.map(|closing| closing.give_up_at)
    }

    /// Says that everything went back, or that nobody can say so.
    pub(super) fn answer_closing(&mut self, now: Micros) {
        let is_idle = self.is_idle();
        let Some(closing) = &mut self.closing else { return };
        let unknown = ReleaseError::Unknown { at_most: Some(closing.longest) };
        let answer = match is_idle {
            true => Ok(()),
            false if closing.give_up_at <= now => Err(unknown),
            false => return,
        };
        for told in closing.told.drain(..) {
            let _ = told.send(answer.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use seinpaal_proto::{Inbox, Series, TicketSource};

    use super::*;

    #[test]
    fn a_release_is_still_overdue_after_another_of_the_same_instant_was_answered() {
        let ticket = Series::from(TicketSource::new(Inbox(7)).lease()).ticket(1);
        let mut releases = Releases::default();
        let answers = [0, 1].map(|slot| {
            let (reply, answer) = oneshot::channel();
            let slots = Slots::range(slot, slot);
            releases.add(ticket, PendingRelease { slots, reply: Some(reply), answer_by: 7 });
            answer
        });
        let given = Slots::range(0, 0);
        releases.answer(ticket, &Ok(()), |release| given.contains(&release.slots));
        let answered = answers.map(|mut answer| answer.try_recv().is_ok());
        assert_eq!((answered, releases.next_overdue()), ([true, false], Some(7)));
    }
}
