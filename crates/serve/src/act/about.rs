//! Whom an action affects, for the page that asks whether to do it.

use seinpaal::{QueueSnapshot, Seinpaal, Snapshot, Ticket};
use seinpaal_words::{
    text::{age, held, ordinal, permits},
    why::origin,
};

use crate::{
    deed::{NameDeed, WebDeed},
    view::{grouped, shown},
};

/// Describes the ticket, and the name or queue as it is now.
pub(super) async fn lines(seinpaal: &Seinpaal, name: &str, deed: &WebDeed) -> Vec<String> {
    let lines = match deed {
        WebDeed::Name(deed) => match seinpaal.semaphore(name).snapshot().await {
            Ok(seen) => match deed {
                NameDeed::Evict(ticket) => vec![of_ticket(&seen, *ticket), next(&seen, *ticket)],
                _ => vec![state(&seen)],
            },
            Err(error) => vec![error.to_string()],
        },
        WebDeed::Queue(_) => match seinpaal.queue(name).snapshot().await {
            Ok(seen) => vec![of_queue(&seen)],
            Err(error) => vec![error.to_string()],
        },
    };
    lines.iter().map(|line| shown(line)).collect()
}

fn of_ticket(seen: &Snapshot, ticket: Ticket) -> String {
    if let Some(holder) = seen.holders.iter().find(|holder| holder.ticket == ticket) {
        let (who, since) = (origin(&holder.about), age(holder.held_for));
        let permits = permits(seen, holder.slots.count());
        return format!(
            "It is {who} ({}), and has held {permits} for {since}.",
            holder.about.client
        );
    }
    let mut waiters = seen.waiters.iter().zip(1..);
    let Some((waiter, place)) = waiters.find(|(waiter, _)| waiter.ticket == ticket) else {
        return "It neither holds nor waits any more.".to_owned();
    };
    let (who, since) = (origin(&waiter.about), age(waiter.waiting_for));
    format!(
        "It is {who} ({}), and has waited for {since}, {} of {} in line.",
        waiter.about.client,
        ordinal(place),
        seen.waiting_total,
    )
}

/// Says who is the first in line without this ticket.
fn next(seen: &Snapshot, ticket: Ticket) -> String {
    let first = seen.waiters.iter().find(|waiter| waiter.ticket != ticket);
    first.map_or_else(
        || "Nobody else waits.".to_owned(),
        |first| format!("Next in line is {}.", origin(&first.about)),
    )
}

fn state(seen: &Snapshot) -> String {
    let set = if seen.is_pinned { ", a limit set by an operator" } else { "" };
    let paused = seen.paused.as_ref().map_or_else(String::new, |reason| match reason.as_str() {
        "" => ", paused".to_owned(),
        reason => format!(", paused: {reason}"),
    });
    format!("Now: {}{set}, {} waiting{paused}.", held(seen), grouped(seen.waiting_total))
}

fn of_queue(seen: &QueueSnapshot) -> String {
    let [ready, delayed, in_work, dead] =
        [seen.ready, seen.delayed, seen.in_work, seen.dead].map(grouped);
    let limit = seen.limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    format!("Now: {ready} ready, {delayed} delayed, {in_work}{limit} in work, {dead} dead.")
}
