//! `show`: who holds and who waits.

use seinpaal::{About, Holder, Snapshot, Ticket, Waiter};

use crate::{
    args::{Global, Show},
    command::ticket,
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Align, Table, may_be_bold},
        text::{age, held, plain},
        why,
    },
};

/// Shows one name, or why one of its waiters waits.
pub(super) fn show(global: &Global, args: &Show, voice: Voice) -> Result<Exit, Failure> {
    let name = &args.which.name;
    let text = ask(global, voice, "seinpaal show", name, async |seinpaal| {
        let snapshot = seinpaal.semaphore(name).snapshot().await?;
        match &args.why {
            Some(start) => explain(&snapshot, ticket::among(&snapshot, start)?, global.json),
            None if global.json => Ok(json::line(&json::Shown::new(&snapshot))),
            None => Ok(page(&snapshot)),
        }
    })?;
    output::print(&text).map(|()| Exit::Success)
}

fn explain(snapshot: &Snapshot, ticket: Ticket, as_json: bool) -> Result<String, Failure> {
    // `among` found it in this very snapshot.
    let why = snapshot.why(&ticket).ok_or_else(|| Failure::internal("the ticket has vanished"))?;
    Ok(match as_json {
        true => json::line(&json::Explained::new(snapshot, ticket, &why)),
        false => why::page(snapshot, ticket, &why),
    })
}

fn page(snapshot: &Snapshot) -> String {
    let bold = may_be_bold();
    let mut text = head(snapshot);
    if !snapshot.holders.is_empty() {
        text.push_str(&format!("\n{}", holders(&snapshot.holders).render(bold)));
    }
    if !snapshot.waiters.is_empty() {
        text.push_str(&format!("\n{}", waiters(&snapshot.waiters).render(bold)));
    }
    text
}

pub(crate) fn head(snapshot: &Snapshot) -> String {
    let set = if snapshot.is_pinned { ", a limit set by `seinpaal limit`" } else { "" };
    let reason = match snapshot.paused.as_deref() {
        Some(reason) if !reason.is_empty() => format!(" ({reason})"),
        _ => String::new(),
    };
    let guarded = snapshot.guarded_for.map(|left| {
        format!(", admits nobody for {}: the server may have forgotten leases", age(left))
    });
    let head = format!(
        "{}: {}{set}, {} waiting, {}{reason}{}",
        snapshot.name,
        held(snapshot),
        snapshot.waiting_total,
        json::state(snapshot),
        guarded.unwrap_or_default(),
    );
    format!("{}\n", plain(&head))
}

fn holders(holders: &[Holder]) -> Table {
    let mut table = Table::new(&[
        ("HOLDER", Align::Left),
        ("SLOTS", Align::Left),
        ("PERMITS", Align::Right),
        ("FENCE", Align::Right),
        ("CLIENT", Align::Left),
        ("HOST", Align::Left),
        ("PID", Align::Right),
        ("SINCE", Align::Right),
        ("LEFT", Align::Right),
        ("LABELS", Align::Left),
    ]);
    for holder in holders {
        table.row(vec![
            holder.ticket.to_string(),
            holder.slots.to_string(),
            holder.slots.count().to_string(),
            holder.fence.to_string(),
            holder.about.client.clone(),
            holder.about.host.clone(),
            holder.about.pid.to_string(),
            age(holder.held_for),
            holder.valid_for.map(age).unwrap_or_default(),
            labels(&holder.about),
        ]);
    }
    table
}

fn waiters(waiters: &[Waiter]) -> Table {
    let mut table = Table::new(&[
        ("WAITER", Align::Left),
        ("PLACE", Align::Right),
        ("PERMITS", Align::Right),
        ("PRIORITY", Align::Right),
        ("CLIENT", Align::Left),
        ("HOST", Align::Left),
        ("PID", Align::Right),
        ("SINCE", Align::Right),
        ("LABELS", Align::Left),
    ]);
    for (waiter, place) in waiters.iter().zip(1..) {
        table.row(vec![
            waiter.ticket.to_string(),
            i32::to_string(&place),
            waiter.permits.to_string(),
            waiter.priority.to_string(),
            waiter.about.client.clone(),
            waiter.about.host.clone(),
            waiter.about.pid.to_string(),
            age(waiter.waiting_for),
            labels(&waiter.about),
        ]);
    }
    table
}

fn labels(about: &About) -> String {
    let pairs = about.labels.iter().map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}
