//! Why a waiter waits, in words.

mod expected;

use std::time::Duration;

use seinpaal::{
    About, Holder, Snapshot, Ticket,
    why::{HeldBy, Holders, Reason, Waits, Why},
};

use expected::latest;
pub use expected::{basis, estimate, figure};

use crate::{
    text::{age, ordinal, plain},
    ticket::short,
};

const MOST_HOLDERS: usize = 3;

/// Returns the text that `show --why` prints.
#[must_use]
pub fn page(seen: &Snapshot, ticket: Ticket, why: &Why) -> String {
    let lines = lines(seen, ticket, why);
    lines.iter().map(|line| format!("{}\n", plain(line))).collect()
}

/// Explains a ticket in lines: its standing, one line a reason, and an estimate of the remaining
/// wait.
#[must_use]
pub fn lines(seen: &Snapshot, ticket: Ticket, why: &Why) -> Vec<String> {
    match why {
        Why::Holds(held) => vec![format!(
            "{} holds {} of {} for {}; it waits for nothing ({})",
            short(seen, ticket),
            permits(u64::from(held.permits)),
            seen.name,
            age(held.held_for),
            lease(held),
        )],
        Why::Waits(waits) => waiting(seen, ticket, waits),
        _ => vec![format!("{}: this program does not know its state", short(seen, ticket))],
    }
}

fn waiting(seen: &Snapshot, ticket: Ticket, waits: &Waits) -> Vec<String> {
    let head = format!(
        "{} has waited for {} of {} for {}, {} of {} in line",
        short(seen, ticket),
        permits(u64::from(waits.permits)),
        seen.name,
        age(waits.waiting_for),
        ordinal(waits.position),
        seen.waiting_total,
    );
    let reasons = waits.reasons.iter().map(|reason| format!("- {}", reason_words(seen, reason)));
    let estimate = [format!("estimate: {}", estimate(&waits.estimate))];
    let latest = waits.leases_end.as_ref().map(latest);
    [head].into_iter().chain(reasons).chain(estimate).chain(latest).collect()
}

/// Says one reason in one sentence.
#[must_use]
pub fn reason_words(seen: &Snapshot, reason: &Reason) -> String {
    match reason {
        Reason::Paused { reason } if reason.is_empty() => "the name is paused".to_owned(),
        Reason::Paused { reason } => format!("the name is paused: {reason}"),
        Reason::Guarded { left } => format!(
            "the server may have forgotten leases, and admits nobody for {} more",
            age(*left)
        ),
        Reason::LimitIsZero { is_pinned: true } => {
            "the limit is 0, set by `seinpaal limit`: it admits nobody".to_owned()
        }
        Reason::LimitIsZero { .. } => "the limit is 0: it admits nobody".to_owned(),
        Reason::Unreachable => {
            "its client cannot be reached, so it is passed over until the client is heard from"
                .to_owned()
        }
        Reason::AboveLimit { permits, limit } => format!(
            "it wants {permits}, and the limit is {limit} now: it is refused when it is looked at next"
        ),
        Reason::LimitLowered { held, limit } => {
            format!(
                "{held} are held, and the limit was lowered to {limit}: nobody gets in until it fits"
            )
        }
        Reason::AboutToBeServed => "nothing: it is about to be served".to_owned(),
        reason => about_others(seen, reason),
    }
}

fn about_others(seen: &Snapshot, reason: &Reason) -> String {
    match reason {
        Reason::Ahead { waiters, permits: wanted, first } => format!(
            "{} ahead and {} {}; next is {}",
            are(*waiters),
            if *waiters == 1 { "wants" } else { "want" },
            wanted_words(seen, *wanted),
            who(seen, *first),
        ),
        Reason::Overtaken { waiters, priority } => {
            format!("{} of those came later with a higher priority (up to {priority})", waiters,)
        }
        Reason::KeptFree { ticket, permits: wanted, free } => format!(
            "{free} free, kept for {}, which wants {wanted}: nobody passes it",
            who(seen, *ticket),
        ),
        Reason::WriterAhead { ticket } => {
            format!("a writer is ahead, {}: no reader passes it", who(seen, *ticket))
        }
        Reason::Held { free, limit, holders } => {
            let held = seen.permits_held;
            let rest = if *free > 0 { format!(" and {free} free") } else { String::new() };
            format!("{held} of {limit} held{rest}: {}", by(seen, holders))
        }
        Reason::SlotHeld { name, holder: held } => {
            format!("slot {name} is held by {}", holder(seen, held))
        }
        Reason::SlotAwaited { name, ticket } => {
            format!("slot {name} is free, and goes to {}, which is ahead", who(seen, *ticket))
        }
        Reason::ReadersHold { holders } => match holders.listed.len() + holders.others as usize {
            1 => format!("a reader holds: {}", by(seen, holders)),
            readers => format!("{readers} readers hold: {}", by(seen, holders)),
        },
        Reason::WriterHolds { holders } => format!("a writer holds: {}", by(seen, holders)),
        Reason::NotRenewed { holders } => silent(seen, holders),
        _ => "for a reason that this program does not know".to_owned(),
    }
}

/// Describes holders that have stopped renewing. Names those whose leases end first, and counts the
/// others.
fn silent(seen: &Snapshot, holders: &[HeldBy]) -> String {
    let told = holders.iter().take(MOST_HOLDERS).map(|held| {
        let words = late(held.not_renewed_for, held.valid_for);
        format!("{}, {words}", who(seen, held.ticket))
    });
    let mut told: Vec<_> = told.collect();
    if holders.len() > told.len() {
        told.push(format!("{} more", holders.len() - told.len()));
    }
    format!("may be dead or cut off: {}", told.join(" \u{b7} "))
}

/// Says for how long a holder has not renewed, and how long its lease still lasts. `None`: no
/// renewal is overdue.
#[must_use]
pub fn not_renewed(holder: &Holder) -> Option<String> {
    let since = holder.not_renewed_for()?;
    Some(late(Some(since), holder.valid_for))
}

fn late(since: Option<Duration>, left: Option<Duration>) -> String {
    let [since, left] = [since, left].map(|time| age(time.unwrap_or_default()));
    format!("not renewed for {since}; its lease ends in {left}")
}

/// Describes holders, the longest holders first. The list of holders is in the order of grants.
fn by(seen: &Snapshot, holders: &Holders) -> String {
    let shown = holders.listed.iter().take(MOST_HOLDERS);
    let mut words: Vec<_> = shown.map(|held| holder(seen, held)).collect();
    let others = (holders.listed.len() + holders.others as usize).saturating_sub(words.len());
    if others > 0 {
        words.push(format!("{others} more"));
    }
    words.join("; ")
}

fn holder(seen: &Snapshot, held: &HeldBy) -> String {
    let many = match held.permits {
        1 | seinpaal::MOST_READERS => String::new(),
        permits => format!(" {permits}"),
    };
    format!("{}{many} for {}, {}", who(seen, held.ticket), age(held.held_for), lease(held))
}

fn lease(held: &HeldBy) -> String {
    match held.valid_for {
        Some(left) => format!("lease ends in {} unless renewed", age(left)),
        None => "for as long as its process lives".to_owned(),
    }
}

/// Describes a ticket by its short form and the description of its client.
fn who(seen: &Snapshot, ticket: Ticket) -> String {
    let holders = seen.holders.iter().map(|row| (row.ticket, &row.about));
    let mut all = holders.chain(seen.waiters.iter().map(|row| (row.ticket, &row.about)));
    match all.find(|(other, _)| *other == ticket) {
        Some((_, about)) => format!("{} ({})", short(seen, ticket), origin(about)),
        None => short(seen, ticket),
    }
}

/// Describes a client by its process, host and labels.
#[must_use]
pub fn origin(about: &About) -> String {
    let labels = about.labels.iter().map(|(key, value)| format!(" {key}={value}"));
    format!("{}@{}{}", about.pid, about.host, labels.collect::<String>())
}

/// Writes a number with its verb: `1 is`, `2 are`.
#[must_use]
pub fn are(number: u32) -> String {
    if number == 1 { "1 is".to_owned() } else { format!("{number} are") }
}

fn permits(permits: u64) -> String {
    match permits {
        1 => "1 permit".to_owned(),
        permits if permits == u64::from(seinpaal::MOST_READERS) => "all permits".to_owned(),
        permits => format!("{permits} permits"),
    }
}

/// Says how much a waiter wants. For a readers-writer lock, a number of permits would say nothing.
fn wanted_words(seen: &Snapshot, wanted: u64) -> String {
    match seen.kind {
        Some(seinpaal::Kind::RwLock) => "the lock, too".to_owned(),
        _ => permits(wanted),
    }
}
