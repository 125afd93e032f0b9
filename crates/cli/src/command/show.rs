//! `show`: prints the holders and the waiters of a name.

use std::time::Duration;

use seinpaal::{About, Slots, Snapshot, Ticket, store::url::StoreUrl};

use crate::{
    args::{Global, ShowArgs},
    command::{ticket, unused},
    connection::ask_at,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::{ALL, age, has_no_limit, held, permits, plain},
        ticket::ShortTickets,
        why,
    },
    settings::{self, StoreChoice},
};

const CLIENT: &str = "seinpaal show";

/// Shows one name, or why one of its waiters waits.
pub(super) fn show(global: &Global, args: &ShowArgs, voice: Voice) -> Result<Exit, Failure> {
    let (name, choice) = (&args.which.name, settings::choose(global)?);
    let shown = ask_at(&choice, Duration::ZERO, voice, CLIENT, name, async |seinpaal| {
        let snapshot = seinpaal.semaphore(name).snapshot().await?;
        let text = match &args.why {
            Some(start) => explain(&snapshot, ticket::among(&snapshot, start)?, global.json)?,
            None if global.json => json::line(&json::Shown::new(&snapshot)),
            None => page(&snapshot, args.width.wide),
        };
        Ok((text, unused::remark(seinpaal, &snapshot, voice).await))
    });
    let (text, remark) = match shown {
        Err(failure) if is_on_full_disk(&failure, &choice) && !global.json => {
            let listed = ask_at(
                &choice,
                Duration::ZERO,
                Voice::new(true, 0),
                CLIENT,
                name,
                async |seinpaal| {
                    Ok(seinpaal.list(name).await?.into_iter().find(|seen| seen.name == *name))
                },
            );
            if let Ok(Some(seen)) = listed {
                output::print(&head(&seen))?;
            }
            return Err(failure);
        }
        shown => shown?,
    };
    output::print(&text)?;
    remark.iter().for_each(|words| voice.say(words));
    Ok(Exit::Success)
}

/// Returns whether a look may have failed because the disk of this machine's store is full. A look
/// at one name writes there, and the list does not, so the totals can still be had.
fn is_on_full_disk(failure: &Failure, choice: &StoreChoice) -> bool {
    failure.exit == Exit::Unreachable && matches!(choice.url, StoreUrl::Embedded(_))
}

fn explain(snapshot: &Snapshot, ticket: Ticket, as_json: bool) -> Result<String, Failure> {
    // `among` found the ticket in this very snapshot.
    let why = snapshot.why(&ticket).ok_or_else(|| Failure::internal("the ticket has vanished"))?;
    Ok(match as_json {
        true => json::line(&json::Explained::new(snapshot, ticket, &why)),
        false => why::page(snapshot, ticket, &why),
    })
}

fn page(snapshot: &Snapshot, wide: bool) -> String {
    let room = TableRoom::of_stdout(wide);
    let short = (!wide).then(|| ShortTickets::of(snapshot));
    let ticket = |ticket: Ticket| match &short {
        Some(short) => short.short(ticket),
        None => ticket.to_string(),
    };
    let mut text = head(snapshot);
    if !snapshot.holders.is_empty() {
        text.push_str(&format!("\n{}", holders(snapshot, ticket).render(room)));
        text.push_str(&late(snapshot, ticket));
    }
    if !snapshot.waiters.is_empty() {
        text.push_str(&format!("\n{}", waiters(snapshot, ticket).render(room)));
    }
    text
}

pub(crate) fn head(snapshot: &Snapshot) -> String {
    let held = match has_no_limit(snapshot) {
        true => "nobody holds, no limit is stored".to_owned(),
        false => held(snapshot),
    };
    let slots = match snapshot.slot_names.is_empty() {
        true => String::new(),
        false => format!(", slots {}", snapshot.slot_names),
    };
    let set = if snapshot.is_pinned { ", a limit set by `seinpaal limit`" } else { "" };
    let reason = match snapshot.paused.as_deref() {
        Some(reason) if !reason.is_empty() => format!(" ({reason})"),
        _ => String::new(),
    };
    let guarded = snapshot.guarded_for.map(|left| {
        format!(", admits nobody for {}: the server may have forgotten leases", age(left))
    });
    let head = format!(
        "{}: {held}{slots}{set}, {} waiting, {}{reason}{}",
        snapshot.name,
        snapshot.waiting_total,
        json::state(snapshot),
        guarded.unwrap_or_default(),
    );
    format!("{}\n", plain(&head))
}

fn holders(seen: &Snapshot, ticket: impl Fn(Ticket) -> String) -> Table {
    let mut table = Table::new(&[
        Column::left("HOLDER"),
        Column::left("SLOTS").cut(5),
        Column::right("PERMITS").rank(4),
        Column::right("FENCE").rank(5),
        Column::left("CLIENT").rank(6).cut(8),
        Column::left("HOST").rank(1).cut(8),
        Column::right("PID").rank(2),
        Column::right("SINCE"),
        Column::right("LEFT"),
        Column::left("LABELS").rank(3).cut(10),
    ]);
    for holder in &seen.holders {
        table.row(vec![
            ticket(holder.ticket),
            slots(seen, &holder.slots),
            permits(seen, holder.slots.count()),
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

/// Returns a line for each holder that has stopped renewing.
fn late(seen: &Snapshot, ticket: impl Fn(Ticket) -> String) -> String {
    let late = seen.holders.iter().filter_map(|holder| {
        let words = why::not_renewed(holder)?;
        Some(format!("{} may be dead or cut off: {words}\n", ticket(holder.ticket)))
    });
    late.collect()
}

fn waiters(seen: &Snapshot, ticket: impl Fn(Ticket) -> String) -> Table {
    let mut table = Table::new(&[
        Column::left("WAITER"),
        Column::right("PLACE"),
        Column::right("PERMITS"),
        Column::right("PRIORITY").rank(4),
        Column::left("CLIENT").rank(5).cut(8),
        Column::left("HOST").rank(1).cut(8),
        Column::right("PID").rank(2),
        Column::right("SINCE"),
        Column::right("EXPECTED"),
        Column::left("LABELS").rank(3).cut(10),
    ]);
    let rows = seen.waiters.iter().zip(seen.estimates()).zip(1..);
    for ((waiter, estimate), place) in rows {
        table.row(vec![
            ticket(waiter.ticket),
            i32::to_string(&place),
            permits(seen, waiter.permits),
            waiter.priority.to_string(),
            waiter.about.client.clone(),
            waiter.about.host.clone(),
            waiter.about.pid.to_string(),
            age(waiter.waiting_for),
            why::figure(&estimate).unwrap_or_default(),
            labels(&waiter.about),
        ]);
    }
    table
}

/// Returns the names of slots, or their numbers if they have no names.
fn slots(seen: &Snapshot, slots: &Slots) -> String {
    if permits(seen, slots.count()) == ALL {
        return ALL.to_owned();
    }
    let names = seen.slot_names.of(slots);
    if names.is_empty() { slots.to_string() } else { names.to_string() }
}

fn labels(about: &About) -> String {
    let pairs = about.labels.iter().map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}
