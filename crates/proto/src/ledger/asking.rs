//! Asking a holder to hand over. The ledger only passes the ask on; the holder decides.

use super::{Contacts, Ledger};
use crate::{
    about::StoredAsk,
    id::{LeaseId, Series},
    reply::{Reply, What},
    request::AskHolder,
    state::{Entry, Lease, Standing, State},
    time::UNBOUNDED,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Stores an ask with the holder, and wakes it.
    pub(super) fn ask_holder(&mut self, request: &AskHolder) -> Result<Reply, S::Error> {
        let ticket = request.ticket;
        let Some(mut entry) = self.state.entry(ticket)? else { return self.not_here(ticket) };
        // A waiter has nothing to hand over. The answer says that it waits.
        if matches!(entry.standing, Standing::Waiting { .. }) {
            return self.told(&entry);
        }
        // An ask that is stored already is answered in the same way and wakes nobody (rule 9).
        let after = self.now.saturating_sub(entry.since);
        if let Some(about) = request.ask.added_to(&entry.about, after) {
            let apart = self.lease_apart(&entry, request.lease)?;
            entry.about = about;
            self.set_apart(&mut entry, apart)?;
            self.wake(&entry, What::Asked);
        }
        Ok(Reply::Asked { ticket })
    }

    /// Returns the lease under which a ticket stands once its holder was asked again. Where the
    /// ticket was attached to, this lease follows from the lease of the attach, so that a
    /// repetition of the attach and its cancel find their grant (rule 9). Elsewhere it is the one
    /// that was drawn for the ask.
    fn lease_apart(&mut self, entry: &Entry, drawn: LeaseId) -> Result<LeaseId, S::Error> {
        // The lease of an attach has a series of its own.
        if Series::from(entry.lease) == entry.ticket.series() {
            return Ok(drawn);
        }
        let apart = entry.lease.apart();
        // An earlier ask has set the ticket apart. Without one, the client itself drew this number.
        if apart == entry.lease && !StoredAsk::list(&entry.about).is_empty() {
            return Ok(apart);
        }
        Ok(if self.state.lease(apart)?.is_none() { apart } else { drawn })
    }

    /// Puts a ticket under another lease that differs only in its id. The next renewal of the old
    /// lease then finds other tickets under it, so the holder renews by ticket, and the answer
    /// tells it of the ask. Renewals cost nothing more where nobody asks, and a lost wakeup cannot
    /// keep the ask from the holder.
    fn set_apart(&mut self, entry: &mut Entry, apart: LeaseId) -> Result<(), S::Error> {
        if let Some(lease) = self.state.lease(entry.lease)?
            && self.state.lease(apart)?.is_none()
        {
            self.state.put_lease(&Lease {
                id: apart,
                members: 0,
                digest: 0,
                parked: 0,
                ..lease
            })?;
        }
        if entry.lease != apart {
            self.part(entry)?;
            entry.lease = apart;
            // The holder's margin is in the bound already, so this join states none.
            self.join(entry, entry.ttl, UNBOUNDED)?;
        }
        self.state.put_entry(entry)
    }
}
