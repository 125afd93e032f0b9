//! The answers of a name where a few sessions take turns, in the format of `line.lua`.

use seinpaal_proto::{
    Acquire, Batch, Busy, Fence, Replies, Reply, Request, Slots, TicketReply, Whom,
};

use super::{exact, plain_grant};

/// Reads an answer that begins with the time below zero.
pub(super) fn read(bytes: &[u8], batch: &Batch) -> Option<Replies> {
    let mut told = UnreadLine(bytes);
    let now = exact(&told.below_zero()?, 0)?;
    let look = told.take::<8>()?;
    let look_in = if f64::from_le_bytes(look) < 0.0 { None } else { Some(exact(&look, 0)?) };
    let replies = batch.requests.iter().map(|request| told.reply(request));
    let replies = replies.collect::<Option<Vec<_>>>()?;
    // Bytes that are left over show that the answer belongs to other requests.
    told.0.is_empty().then_some(Replies { now, replies, backlog: false, look_in })
}

/// The part of an answer that is yet to be read.
struct UnreadLine<'a>(&'a [u8]);

impl UnreadLine<'_> {
    fn take<const SIZE: usize>(&mut self) -> Option<[u8; SIZE]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn below_zero(&mut self) -> Option<[u8; 8]> {
        Some((-f64::from_le_bytes(self.take()?)).to_le_bytes())
    }

    fn exact(&mut self) -> Option<u64> {
        exact(&self.take::<8>()?, 0)
    }

    fn count(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take()?))
    }

    fn reply(&mut self, request: &Request) -> Option<Reply> {
        match request {
            Request::Acquire(acquire) => self.acquired(acquire),
            Request::Release { ticket, slots: None } => {
                Some(Reply::Released { ticket: *ticket, left: 0 })
            }
            Request::Renew(renew) => match &renew.whom {
                Whom::All { .. } => Some(Reply::Renewed { valid_for: Some(renew.ttl) }),
                Whom::Tickets(_) => self.proved(renew.ttl),
            },
            _ => None,
        }
    }

    fn acquired(&mut self, acquire: &Acquire) -> Option<Reply> {
        let ticket = acquire.ticket;
        match self.take()? {
            [1] => {
                let (fence, slot) = (self.exact()?, self.count()?);
                Some(Reply::Granted(plain_grant(acquire, fence, slot, self.exact()?)?))
            }
            [2] => Some(Reply::Queued { ticket, waiting: self.count()?, limit: self.count()? }),
            [3] => {
                let [limit, held, waiting] = [self.count()?, self.count()?, self.count()?];
                Some(Reply::Busy { ticket, why: Busy::Full, limit, held, waiting })
            }
            _ => None,
        }
    }

    fn proved(&mut self, ttl: u64) -> Option<Reply> {
        let (fence, first) = (Fence(self.exact()?), self.count()?);
        let slots = Slots::range(first, first.checked_add(self.count()?.checked_sub(1)?)?);
        let held = TicketReply::Held { fence, slots, names: Default::default() };
        Some(Reply::Tickets { valid_for: Some(ttl), tickets: vec![held] })
    }
}
