//! Asking a holder to hand over. The ledger only passes the ask on; the holder decides.

use super::{Contacts, Ledger};
use crate::{
    id::LeaseId,
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
            entry.about = about;
            self.set_apart(&mut entry, request.lease)?;
            self.wake(&entry, What::Asked);
        }
        Ok(Reply::Asked { ticket })
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
