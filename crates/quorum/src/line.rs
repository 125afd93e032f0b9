//! Writes the lines of a call, one for each operation of the node script.

use std::fmt::Write;

use seinpaal_proto::{
    Acquire, Attach, Enqueue, LimitRule, OnMismatch, Renew, Request, Whom,
    time::{Micros, UNBOUNDED},
};

use super::ballot::Ballot;

/// Fences that clients claim to have seen are believed up to this number, as the ledger does.
pub(super) const MOST_FENCE_SEEN: u64 = 1 << 52;

/// The line of a request that is not put to the vote.
pub(super) fn line(request: &Request) -> String {
    match request {
        Request::Renew(renew) => renew_line(renew),
        Request::Release { ticket, slots: None } => format!("release {ticket} all"),
        // The comma makes an argument even of no slots at all.
        Request::Release { ticket, slots: Some(slots) } => format!("release {ticket} {slots},"),
        Request::Detach { ticket, fence, ttl, margin } => {
            let (fence, margin) = (fence.0.min(UNBOUNDED), (*margin).min(UNBOUNDED));
            format!("detach {ticket} {fence} {ttl} {margin}")
        }
        Request::Cancel { ticket, remember, attach } => {
            let attach = attach.map_or_else(|| "-".to_owned(), |lease| lease.to_string());
            format!("cancel {ticket} {remember} {attach}")
        }
        Request::Evict { ticket } => format!("evict {ticket}"),
        Request::Inspect { rows } => format!("inspect {rows}"),
        // The others have lines of their own, or are refused. A node refuses an empty line.
        _ => String::new(),
    }
}

/// A line for a ballot: `take`, `mend` or `yield`.
pub(super) fn ballot_line(word: &str, ballot: &Ballot) -> String {
    let slots = ballot.slots.as_ref().map_or_else(|| "any".to_owned(), ToString::to_string);
    let (fence, want) = (ballot.fence, &ballot.want);
    let Acquire { ticket, permits, ttl, waiter_ttl, about, .. } = want;
    let (lease, waiter_lease) = (ballot.lease, ticket.place());
    let (limit, enqueue) = (limit_word(want.limit), enqueue_word(want.enqueue));
    let kind = want.kind.letter();
    let (priority, margin) = (want.priority.get(), want.margin.min(UNBOUNDED));
    let not_after = deadline_word(want.not_after);
    format!(
        "{word} {slots} {fence} {ticket} {kind} {permits} {limit} {enqueue} {priority} {lease} {ttl} {margin} \
         {waiter_lease} {waiter_ttl} {not_after} {about}"
    )
}

/// The line of an attach that is put to the vote under this fence.
pub(super) fn attach_line(fence: u64, attach: &Attach) -> String {
    let Attach { ticket, lease, ttl, about, .. } = attach;
    let (margin, not_after) = (attach.margin.min(UNBOUNDED), deadline_word(attach.not_after));
    format!("attach {fence} {ticket} {lease} {ttl} {margin} {not_after} {about}")
}

/// Lua's numbers are exact up to [`UNBOUNDED`]. A later deadline counts as none.
fn deadline_word(not_after: Option<Micros>) -> String {
    not_after.map_or_else(|| "-".to_owned(), |at| at.min(UNBOUNDED).to_string())
}

fn limit_word(rule: Option<LimitRule>) -> String {
    let Some(LimitRule { limit, on_mismatch }) = rule else { return "-".into() };
    match on_mismatch {
        OnMismatch::Refuse => format!("R{limit}"),
        // A limit that the request sets has a line of its own before this one.
        OnMismatch::Adopt | OnMismatch::Set => format!("A{limit}"),
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
    let mut line = format!("renew {lease} {ttl} {} ", renew.margin.min(UNBOUNDED));
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
