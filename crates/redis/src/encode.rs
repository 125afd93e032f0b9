//! Writes batches as the scripts of names read them. The format: lua/names/README.md.

use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Enqueue, Fence, Inbox, LimitRule, OnMismatch, Renew,
    Request, SlotNames, Slots, Ticket, Whom, time::UNBOUNDED,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

use super::script::Script;

/// Fences that clients claim to have seen are believed up to this number, as the ledger does.
const MOST_FENCE_SEEN: u64 = 1 << 52;

// The options with which an argument starts.
const ALWAYS: u8 = 64;
const IN_CLUSTER: u8 = 2;
/// The hash slot is on its way to the node, which does not know yet who listens.
pub(crate) const HASH_SLOT_MOVES: u8 = 4;
/// All names of the call are acquired, or none. Only the first name says so.
pub(crate) const ALL_OR_NONE: u8 = 8;
const HAS_TIME: u8 = 16;

/// What an argument says besides the batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) is_in_cluster: bool,
    /// The clock, if a test sets it.
    pub(crate) now: Option<u64>,
}

impl Setting {
    /// The options with which an argument about a name or a queue starts.
    pub(crate) fn options(self) -> u8 {
        let cluster = if self.is_in_cluster { IN_CLUSTER } else { 0 };
        ALWAYS | cluster | if self.now.is_some() { HAS_TIME } else { 0 }
    }
}

/// The rows that a page of an inspection still has to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsWanted {
    pub(crate) waiters: u32,
    pub(crate) holders: u32,
}

/// The script for a batch.
pub(crate) fn script_of(batch: &Batch) -> Script {
    let is_common = |request: &Request| {
        let is_waking = matches!(request, Request::Acquire(_) | Request::Renew(_));
        is_waking || matches!(request, Request::Release { .. } | Request::Cancel { .. })
    };
    if batch.requests.iter().all(is_common) { Script::Hot } else { Script::Admin }
}

/// The argument of a batch.
///
/// # Errors
/// If a request is too long for the format.
pub(crate) fn argument(batch: &Batch, setting: Setting) -> Result<Vec<u8>, StoreError> {
    let mut out = Writer::start(batch.inbox, batch.fence_seen, setting);
    for request in &batch.requests {
        let (code, body) = body_of(request);
        out.request(code, &body)?;
    }
    Ok(out.end(setting))
}

/// The argument of an inspection that goes on with the page at this cursor.
pub(crate) fn page(
    inbox: Option<Inbox>,
    wanted: RowsWanted,
    cursor: &[u8],
    setting: Setting,
) -> Result<Vec<u8>, StoreError> {
    let mut out = Writer::start(inbox, 0, setting);
    out.request(11, &inspect(wanted, cursor))?;
    Ok(out.end(setting))
}

/// A ticket and its fence, for the script of guarded writes.
pub(crate) fn held(ticket: Ticket, fence: Fence) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(28));
    out.ticket(ticket);
    out.number(fence.0);
    out.0
}

/// Sets an option in an argument.
pub(crate) fn set_option(argument: &mut [u8], option: u8) {
    argument[0] |= option;
}

/// The code of a request, and what follows it.
fn body_of(request: &Request) -> (u8, Writer) {
    let mut out = Writer(Vec::with_capacity(256));
    let code = match request {
        Request::Acquire(acquire) => {
            out.acquire(acquire);
            1
        }
        Request::Release { ticket, slots } => {
            out.ticket(*ticket);
            slots.iter().for_each(|slots| out.slots(slots));
            2
        }
        Request::Renew(renew) => out.renew(renew),
        Request::Cancel { ticket, remember, attach } => {
            out.ticket(*ticket);
            out.number(*remember);
            attach.iter().for_each(|lease| out.id(lease.0));
            5
        }
        Request::Evict { ticket } => {
            out.ticket(*ticket);
            7
        }
        Request::Attach(attach) => {
            out.attach(attach);
            8
        }
        Request::Detach { ticket, fence, ttl, margin } => {
            out.ticket(*ticket);
            [fence.0, *ttl, *margin].into_iter().for_each(|number| out.number(number));
            9
        }
        Request::Configure(change) => {
            out.configure(change);
            10
        }
        Request::Inspect { rows } => {
            return (11, inspect(RowsWanted { waiters: *rows, holders: *rows }, &[]));
        }
    };
    (code, out)
}

fn inspect(wanted: RowsWanted, cursor: &[u8]) -> Writer {
    let mut out = Writer(Vec::new());
    out.count(wanted.waiters);
    out.count(wanted.holders);
    out.0.extend(cursor);
    out
}

/// Numbers are little-endian; times and fences are doubles, as Lua has them.
struct Writer(Vec<u8>);

impl Writer {
    fn start(inbox: Option<Inbox>, fence_seen: u64, setting: Setting) -> Self {
        let mut out = Self(Vec::with_capacity(512));
        out.byte(setting.options());
        out.number(fence_seen.min(MOST_FENCE_SEEN));
        out.id(inbox.map_or(0, |inbox| inbox.0));
        out
    }

    fn end(mut self, setting: Setting) -> Vec<u8> {
        setting.now.into_iter().for_each(|now| self.number(now));
        self.0
    }

    fn request(&mut self, code: u8, body: &Self) -> Result<(), StoreError> {
        let size = u16::try_from(body.0.len()).map_err(|_| too_long())?;
        self.byte(code);
        self.0.extend(size.to_le_bytes());
        self.0.extend(&body.0);
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn count(&mut self, count: u32) {
        self.0.extend(count.to_le_bytes());
    }

    /// A number as Lua has it, exact up to 2^53. A larger one means *without end*.
    #[allow(clippy::cast_precision_loss, reason = "it is exact up to the bound")]
    fn number(&mut self, number: u64) {
        self.0.extend((number.min(UNBOUNDED) as f64).to_le_bytes());
    }

    fn id(&mut self, id: u128) {
        self.0.extend(id.to_be_bytes());
    }

    /// The record of a ticket's series, and its number there.
    fn ticket(&mut self, ticket: Ticket) {
        self.id(ticket.series().0);
        self.count(ticket.number());
    }

    fn slots(&mut self, slots: &Slots) {
        // More ranges than this are refused as too long.
        self.0.extend((slots.ranges().len() as u16).to_le_bytes());
        for (first, last) in slots.ranges() {
            self.count(*first);
            self.count(*last);
        }
    }

    fn names(&mut self, names: &SlotNames) {
        let names = names.to_string();
        self.0.extend((names.len() as u16).to_le_bytes());
        self.0.extend(names.bytes());
    }

    fn acquire(&mut self, acquire: &Acquire) {
        let (rule, limit) = match acquire.limit {
            None => (0, 0),
            Some(LimitRule { limit, on_mismatch }) => (rule_of(on_mismatch), limit.get()),
        };
        self.ticket(acquire.ticket);
        self.byte(acquire.kind.letter() as u8);
        self.byte(rule);
        self.byte(u8::from(!acquire.wishes.is_empty()));
        self.count(acquire.permits.get());
        self.count(limit);
        for time in [acquire.ttl, acquire.margin, acquire.not_after.unwrap_or(UNBOUNDED)] {
            self.number(time);
        }
        match acquire.enqueue {
            Enqueue::No => self.0.extend((-1.0_f64).to_le_bytes()),
            Enqueue::Yes { max_waiting: None } => self.number(UNBOUNDED),
            Enqueue::Yes { max_waiting: Some(most) } => self.number(most.into()),
        }
        self.0.extend(acquire.priority.get().to_le_bytes());
        self.number(acquire.waiter_ttl);
        if !acquire.wishes.is_empty() {
            self.names(&acquire.wishes);
        }
        self.0.extend(acquire.about.bytes());
    }

    fn renew(&mut self, renew: &Renew) -> u8 {
        match &renew.whom {
            Whom::All { members, digest } => {
                // The record of a series has the leases of both its holders and its waiters.
                let lease = Ticket(renew.lease.0);
                let of_waiters = renew.lease.is_place();
                self.id(if of_waiters { lease.series().0 } else { lease.0 });
                self.byte(u8::from(of_waiters));
                self.number(renew.ttl);
                self.number(renew.margin);
                self.count(*members);
                self.number(*digest);
                3
            }
            Whom::Tickets(tickets) => match tickets.as_slice() {
                [ticket] if ticket.lease() == renew.lease && renew.ttl > 0 => {
                    self.ticket(*ticket);
                    self.number(renew.ttl);
                    self.number(renew.margin);
                    4
                }
                tickets => {
                    self.id(renew.lease.0);
                    self.number(renew.ttl);
                    self.number(renew.margin);
                    tickets.iter().for_each(|ticket| self.id(ticket.0));
                    6
                }
            },
        }
    }

    fn attach(&mut self, attach: &Attach) {
        self.ticket(attach.ticket);
        self.id(attach.lease.0);
        for time in [attach.ttl, attach.margin, attach.not_after.unwrap_or(UNBOUNDED)] {
            self.number(time);
        }
        self.0.extend(attach.about.bytes());
    }

    fn configure(&mut self, change: &Configure) {
        match change {
            Configure::Limit(limit) => {
                self.byte(b'l');
                self.count(limit.get());
            }
            Configure::Slots(names) => {
                self.byte(b's');
                self.0.extend(names.to_string().bytes());
            }
            Configure::Unpin => self.byte(b'u'),
            Configure::Pause(reason) => {
                self.byte(b'p');
                self.0.extend(reason.bytes());
            }
            Configure::Resume => self.byte(b'r'),
        }
    }
}

fn rule_of(on_mismatch: OnMismatch) -> u8 {
    match on_mismatch {
        OnMismatch::Refuse => 1,
        OnMismatch::Adopt => 2,
        OnMismatch::Set => 3,
        OnMismatch::Exact => 4,
    }
}

fn too_long() -> StoreError {
    let message = "a request is too long: give back fewer slots at once";
    StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message)
}
