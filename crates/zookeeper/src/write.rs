//! The ledger's writes as bytes. A name's znode has the writes since its base, and the base has the
//! fewest writes that make the rest of the state (`store/packed`).

use seinpaal_proto::{
    Fence, Inbox, LeaseId, MemoryState, Name, Series, State, Ticket, Wakeup, What, time::UNBOUNDED,
};

use seinpaal_store::packed::{
    Damaged, Packer, Unpacker, put_cause, put_slots, repeat_fact, sound, take_cause, take_slots,
};

/// A wakeup without the name, which the reader of the znode knows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hint {
    pub(super) inbox: Inbox,
    pub(super) ticket: Ticket,
    pub(super) what: What,
}

// These numbers and those of the facts in `store/packed` share one range, and no number is used
// twice.
pub(super) const CLEAR: u8 = 2;
pub(super) const NO_LEASE: u8 = 4;
pub(super) const NO_ENTRY: u8 = 7;
pub(super) const NO_MEMORY: u8 = 9;
pub(super) const LOWEST_FREE_TAKEN: u8 = 11;
pub(super) const NOTHING_FREE: u8 = 12;
const GRANTED: u8 = 13;
const ENDED: u8 = 14;
pub(super) const FREE_TAKEN: u8 = 15;

pub(super) fn put_hint(packer: &mut Packer, hint: &Hint) {
    let kind = match hint.what {
        What::Granted { .. } => GRANTED,
        What::Ended(_) => ENDED,
    };
    packer.byte(kind);
    packer.id(hint.inbox.0);
    packer.id(hint.ticket.0);
    match &hint.what {
        What::Granted { fence, slots, limit } => {
            packer.instant(fence.0);
            put_slots(packer, slots);
            packer.number((*limit).into());
        }
        What::Ended(cause) => put_cause(packer, *cause),
    }
}

/// Repeats the writes of one record, and returns its hints in `hints`.
pub fn replay(
    record: &[u8],
    state: &mut MemoryState,
    hints: &mut Vec<Hint>,
) -> Result<(), Damaged> {
    let mut from = Unpacker::new(record)?;
    while !from.is_empty() {
        let Ok(()) = match from.byte()? {
            CLEAR => state.clear(),
            NO_LEASE => state.remove_lease(LeaseId(from.id()?)),
            NO_ENTRY => state.remove_entry(Ticket(from.id()?)),
            NO_MEMORY => state.remove_memory(Series(from.id()?)),
            LOWEST_FREE_TAKEN => state.pop_free_slots().map(drop),
            FREE_TAKEN => state.remove_free_slots(from.small()?, from.small()?),
            NOTHING_FREE => state.clear_free_slots(),
            kind @ (GRANTED | ENDED) => {
                hints.push(take_hint(&mut from, kind)?);
                Ok(())
            }
            fact => {
                repeat_fact(fact, &mut from, state)?;
                Ok(())
            }
        };
    }
    Ok(())
}

fn take_hint(from: &mut Unpacker<'_>, kind: u8) -> Result<Hint, Damaged> {
    let (inbox, ticket) = (Inbox(from.id()?), Ticket(from.id()?));
    let what = match kind {
        GRANTED => {
            let fence = sound(Fence(from.instant()?), |fence| fence.0 <= UNBOUNDED)?;
            What::Granted { fence, slots: take_slots(from)?, limit: from.small()? }
        }
        _ => What::Ended(take_cause(from)?),
    };
    Ok(Hint { inbox, ticket, what })
}

impl From<&Wakeup> for Hint {
    fn from(wakeup: &Wakeup) -> Self {
        Self { inbox: wakeup.inbox, ticket: wakeup.ticket, what: wakeup.what.clone() }
    }
}

impl Hint {
    pub(super) fn about(self, name: &Name) -> Wakeup {
        Wakeup { inbox: self.inbox, name: name.clone(), ticket: self.ticket, what: self.what }
    }
}
