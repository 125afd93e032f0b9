//! Writes a batch for the scripts.

use std::fmt::Write;

use crate::named::encoded;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Enqueue, Kind, LimitRule, OnMismatch, Renew, Request,
    Ticket, Whom, time::Micros,
};

/// Fences that clients claim to have seen are believed up to this number, as the ledger does.
const MOST_FENCE_SEEN: u64 = 1 << 52;
/// Lua's numbers are exact up to this one. A deadline beyond it counts as no deadline.
const MOST_EXACT: u64 = 1 << 53;

/// The place of the first request among the arguments.
pub(crate) const FIRST_REQUEST: usize = 3;

/// The arguments of a batch: the clock if a test sets it, the asker, the fence that was seen, and
/// one argument for each request.
pub(crate) fn arguments(batch: &Batch, now: Option<u64>) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(3 + batch.requests.len());
    arguments.push(now.map(|now| now.to_string().into_bytes()).unwrap_or_default());
    arguments.push(batch.inbox.map(|inbox| inbox.to_string().into_bytes()).unwrap_or_default());
    arguments.push(batch.fence_seen.min(MOST_FENCE_SEEN).to_string().into_bytes());
    arguments.extend(batch.requests.iter().map(|request| match request {
        Request::Acquire(acquire) if acquire.wishes.is_empty() => packed(acquire),
        request => line(request).into_bytes(),
    }));
    arguments
}

/// The arguments of a batch that is likely to be plain, in the forms `PLAIN_*` of `lean.lua`.
/// `None` if one of its requests cannot be plain.
pub(crate) fn plain_arguments(batch: &Batch, now: Option<u64>) -> Option<Vec<Vec<u8>>> {
    let mut start = [0; PLAIN_START];
    start[..8].copy_from_slice(&now.map_or((-1.0_f64).to_le_bytes(), double));
    start[8..16].copy_from_slice(&double(batch.fence_seen.min(MOST_FENCE_SEEN)));
    start[16..].copy_from_slice(&batch.inbox?.digits());
    let arguments = batch.requests.iter().map(|request| plain_argument(&start, request));
    let arguments = arguments.collect::<Option<Vec<_>>>()?;
    (!arguments.is_empty()).then_some(arguments)
}

/// The length in bytes of the part with which each request of a batch begins, after its operation:
/// now, the fence that was seen, and the inbox. All requests of a batch have the same part.
const PLAIN_START: usize = 48;

/// More bytes than any request needs without its client's description. Growing a buffer costs more
/// than making it too large.
const PLAIN_LENGTH: usize = 384;

fn plain_argument(start: &[u8; PLAIN_START], request: &Request) -> Option<Vec<u8>> {
    match request {
        Request::Acquire(acquire) if acquire.wishes.is_empty() => plain_acquire(start, acquire),
        Request::Release { ticket, slots: None } => {
            let mut argument = begun(2, start, 0);
            put_plain_ticket(&mut argument, *ticket);
            Some(argument)
        }
        Request::Renew(Renew { lease, ttl, margin, whom: Whom::All { members, digest } }) => {
            // The lease of a series ends with the number 0, and any other lease is not plain.
            let mut argument = begun(3, start, 0);
            argument.extend(lease.digits().strip_suffix(b"00000000")?);
            for number in [*ttl, *margin, u64::from(*members), *digest] {
                argument.extend(double(number));
            }
            Some(argument)
        }
        Request::Renew(renew) => plain_proof(start, renew),
        _ => None,
    }
}

/// The renewal of one ticket under the lease of its series, which proves that the ticket is held.
fn plain_proof(start: &[u8; PLAIN_START], renew: &Renew) -> Option<Vec<u8>> {
    let Whom::Tickets(tickets) = &renew.whom else { return None };
    let [ticket] = tickets.as_slice() else { return None };
    let mut argument = begun(4, start, 0);
    argument.extend(&ticket.digits()[..24]);
    argument.extend(ticket.number().to_le_bytes());
    argument.extend(double(renew.ttl));
    argument.extend(double(renew.margin));
    (renew.lease == ticket.series().ticket(0).into()).then_some(argument)
}

fn begun(operation: u8, start: &[u8; PLAIN_START], about: usize) -> Vec<u8> {
    let mut argument = Vec::with_capacity(PLAIN_LENGTH + about);
    argument.push(operation);
    argument.extend(start);
    argument
}

fn plain_acquire(start: &[u8; PLAIN_START], acquire: &Acquire) -> Option<Vec<u8>> {
    let (rule, limit) = rule_and_limit(acquire.limit);
    let mut argument = begun(1, start, acquire.about.len());
    put_plain_ticket(&mut argument, acquire.ticket);
    argument.extend(acquire.permits.get().to_le_bytes());
    argument.extend(limit.to_le_bytes());
    put_letter(&mut argument, acquire.kind);
    for time in [acquire.ttl, acquire.margin, acquire.not_after.unwrap_or(MOST_EXACT)] {
        argument.extend(double(time));
    }
    argument.push(rule);
    put_place(&mut argument, acquire);
    argument.extend(acquire.waiter_lease.digits());
    argument.extend(acquire.about.bytes());
    is_own(acquire).then_some(argument)
}

/// Puts series, number and digest of a ticket.
fn put_plain_ticket(argument: &mut Vec<u8>, ticket: Ticket) {
    argument.extend(&ticket.digits()[..24]);
    argument.extend(ticket.number().to_le_bytes());
    argument.extend(double(ticket.digest()));
}

fn put_letter(argument: &mut Vec<u8>, kind: Kind) {
    argument.extend(kind.letter().encode_utf8(&mut [0; 4]).bytes());
}

/// Returns whether the ticket's lease is that of its series.
fn is_own(acquire: &Acquire) -> bool {
    acquire.lease == acquire.ticket.series().ticket(0).into()
}

fn packed(acquire: &Acquire) -> Vec<u8> {
    let mut packed = Vec::with_capacity(PLAIN_LENGTH + acquire.about.len());
    put_packed(&mut packed, acquire);
    packed
}

/// Puts an acquire in the format `ASK` of `forms.lua`. If it were a line, reading its words would
/// be a third of the server's cost.
fn put_packed(packed: &mut Vec<u8>, acquire: &Acquire) {
    let (rule, limit) = rule_and_limit(acquire.limit);
    packed.extend(b"acquire:");
    packed.extend(acquire.ticket.digits());
    packed.extend(acquire.ticket.number().to_le_bytes());
    packed.push(u8::from(is_own(acquire)));
    put_letter(packed, acquire.kind);
    packed.extend(acquire.permits.get().to_le_bytes());
    packed.push(rule);
    packed.extend(limit.to_le_bytes());
    for time in [acquire.ttl, acquire.margin, acquire.not_after.unwrap_or(MOST_EXACT)] {
        packed.extend(double(time));
    }
    put_place(packed, acquire);
    packed.extend(acquire.lease.digits());
    packed.extend(acquire.waiter_lease.digits());
    packed.extend(acquire.about.bytes());
}

/// Puts how many may wait at most, the priority, and how long a place in line lasts.
fn put_place(argument: &mut Vec<u8>, acquire: &Acquire) {
    argument.extend(match acquire.enqueue {
        Enqueue::No => (-1.0_f64).to_le_bytes(),
        Enqueue::Yes { max_waiting: None } => double(MOST_EXACT),
        Enqueue::Yes { max_waiting: Some(most) } => double(most.into()),
    });
    argument.extend(i32::from(acquire.priority.get()).to_le_bytes());
    argument.extend(double(acquire.waiter_ttl));
}

/// A number as Lua has it. A number that Lua cannot hold exactly becomes one that is out of every
/// range.
#[allow(clippy::cast_precision_loss, reason = "it is exact up to the bound")]
pub(crate) fn double(number: u64) -> [u8; 8] {
    (number.min(MOST_EXACT) as f64).to_le_bytes()
}

fn rule_and_limit(rule: Option<LimitRule>) -> (u8, u32) {
    let Some(LimitRule { limit, on_mismatch }) = rule else { return (b'-', 1) };
    let letter = match on_mismatch {
        OnMismatch::Refuse => b'R',
        OnMismatch::Adopt => b'A',
        OnMismatch::Set => b'S',
        OnMismatch::Exact => b'E',
    };
    (letter, limit.get())
}

/// The line of a request.
pub(crate) fn line(request: &Request) -> String {
    match request {
        Request::Acquire(acquire) if acquire.wishes.is_empty() => acquire_line(acquire),
        Request::Acquire(acquire) => {
            format!("wish {} {}", encoded(&acquire.wishes), acquire_line(acquire))
        }
        Request::Renew(renew) => renew_line(renew),
        Request::Release { ticket, slots: None } => format!("release {ticket} all"),
        // The comma makes an argument even of no slots at all.
        Request::Release { ticket, slots: Some(slots) } => format!("release {ticket} {slots},"),
        Request::Attach(attach) => format!("attach {}", attach_words(attach)),
        Request::Detach { ticket, fence, ttl, margin } => {
            let fence = fence.0.min(MOST_EXACT);
            format!("detach {ticket} {fence} {ttl} {}", (*margin).min(MOST_EXACT))
        }
        Request::Cancel { ticket, remember, attach } => {
            let attach = attach.map_or_else(|| "-".to_owned(), |lease| lease.to_string());
            format!("cancel {ticket} {remember} {attach}")
        }
        Request::Evict { ticket } => format!("evict {ticket}"),
        Request::Configure(Configure::Limit(limit)) => format!("configure limit {limit}"),
        Request::Configure(Configure::Slots(names)) => {
            format!("configure slots {}", encoded(names))
        }
        Request::Configure(Configure::Unpin) => "configure unpin ".to_owned(),
        Request::Configure(Configure::Pause(reason)) => format!("configure pause {reason}"),
        Request::Configure(Configure::Resume) => "configure resume ".to_owned(),
        Request::Inspect { rows } => format!("inspect {rows}"),
    }
}

/// The line of an acquire, in words.
fn acquire_line(acquire: &Acquire) -> String {
    let Acquire { ticket, permits, lease, ttl, waiter_lease, waiter_ttl, about, .. } = acquire;
    let (limit, enqueue) = (limit_word(acquire.limit), enqueue_word(acquire.enqueue));
    let kind = acquire.kind.letter();
    let (priority, margin) = (acquire.priority.get(), acquire.margin.min(MOST_EXACT));
    let not_after = deadline_word(acquire.not_after);
    format!(
        "acquire {ticket} {kind} {permits} {limit} {enqueue} {priority} {lease} {ttl} {margin} \
         {waiter_lease} {waiter_ttl} {not_after} {about}"
    )
}

/// An attach without the word that begins its line.
fn attach_words(attach: &Attach) -> String {
    let Attach { ticket, lease, ttl, about, .. } = attach;
    let (margin, not_after) = (attach.margin.min(MOST_EXACT), deadline_word(attach.not_after));
    format!("{ticket} {lease} {ttl} {margin} {not_after} {about}")
}

fn deadline_word(not_after: Option<Micros>) -> String {
    not_after.map_or_else(|| "-".to_owned(), |at| at.min(MOST_EXACT).to_string())
}

fn limit_word(rule: Option<LimitRule>) -> String {
    let Some(LimitRule { limit, on_mismatch }) = rule else { return "-".into() };
    match on_mismatch {
        OnMismatch::Refuse => format!("R{limit}"),
        OnMismatch::Adopt => format!("A{limit}"),
        OnMismatch::Set => format!("S{limit}"),
        OnMismatch::Exact => format!("E{limit}"),
    }
}

fn enqueue_word(enqueue: Enqueue) -> String {
    match enqueue {
        Enqueue::No => "no".into(),
        Enqueue::Yes { max_waiting: None } => "yes".into(),
        Enqueue::Yes { max_waiting: Some(most) } => most.to_string(),
    }
}

fn renew_line(renew: &Renew) -> String {
    let Renew { lease, ttl, whom, .. } = renew;
    let mut line = format!("renew {lease} {ttl} {} ", renew.margin.min(MOST_EXACT));
    match whom {
        Whom::All { members, digest } => line.push_str(&format!("all {members} {digest}")),
        Whom::Tickets(tickets) => {
            line.push_str("tickets");
            for ticket in tickets {
                // Writing to a String cannot fail.
                let _ = write!(line, " {ticket}");
            }
        }
    }
    line
}
