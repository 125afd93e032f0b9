//! `queue show`: prints totals, and which worker has which item.

use seinpaal::{GroupCount, InWork, QueueSnapshot};

use crate::{
    args::{Global, queue::QueueShowArgs},
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::{age, plain},
    },
};

/// Shows one queue.
pub(super) fn show(global: &Global, args: &QueueShowArgs, voice: Voice) -> Result<Exit, Failure> {
    let snapshot = ask(global, voice, "seinpaal queue show", &args.name, async |seinpaal| {
        Ok(seinpaal.queue(&args.name).snapshot().await?)
    })?;
    let text = match global.json {
        true => json::line(&json::queue::QueueJson::new(&snapshot)),
        false => page(&snapshot, TableRoom::of_stdout(args.width.wide)),
    };
    output::print(&text).map(|()| Exit::Success)
}

fn page(snapshot: &QueueSnapshot, room: TableRoom) -> String {
    let mut text = head(snapshot);
    if !snapshot.work.is_empty() {
        text.push_str(&format!("\n{}", work(&snapshot.work).render(room)));
    }
    if !snapshot.groups.is_empty() {
        text.push_str(&format!("\n{}", groups(&snapshot.groups).render(room)));
    }
    text
}

pub(crate) fn head(snapshot: &QueueSnapshot) -> String {
    let QueueSnapshot { ready, delayed, in_work, dead, idle, .. } = snapshot;
    let oldest = snapshot.oldest.map(|age_of| format!(" (oldest {})", age(age_of)));
    let due = snapshot.next_due.map(|left| format!(" (next in {})", age(left)));
    let limit = snapshot.limit.map(|limit| format!(" of {limit}"));
    let group_limit = snapshot.group_limit.map(|limit| format!(" ({limit} a group)"));
    let reason = match snapshot.paused.as_deref() {
        Some(reason) if !reason.is_empty() => format!(" ({reason})"),
        _ => String::new(),
    };
    let head = format!(
        "{}: {ready} ready{}, {delayed} delayed{}, {in_work}{} in work{}, {dead} dead, {idle} idle, {}{reason}",
        snapshot.name,
        oldest.unwrap_or_default(),
        due.unwrap_or_default(),
        limit.unwrap_or_default(),
        group_limit.unwrap_or_default(),
        json::queue::state(snapshot),
    );
    format!("{}\n", plain(&head))
}

fn work(items: &[InWork]) -> Table {
    let mut table = Table::new(&[
        Column::left("ITEM"),
        Column::right("ATTEMPT").rank(4),
        Column::right("FENCE").rank(5),
        Column::left("GROUP").rank(3).cut(8),
        Column::left("CLIENT").rank(6).cut(8),
        Column::left("HOST").rank(1).cut(8),
        Column::right("PID").rank(2),
        Column::right("SINCE"),
        Column::right("LEFT"),
    ]);
    for item in items {
        table.row(vec![
            item.id.to_string(),
            item.attempt.to_string(),
            item.fence.to_string(),
            item.group.as_deref().unwrap_or_default().to_owned(),
            item.worker.client.clone(),
            item.worker.host.clone(),
            item.worker.pid.to_string(),
            age(item.worked_for),
            item.valid_for.map(age).unwrap_or_default(),
        ]);
    }
    table
}

fn groups(groups: &[GroupCount]) -> Table {
    let mut table = Table::new(&[
        Column::left("GROUP").cut_start(20),
        Column::right("READY"),
        Column::right("IN WORK"),
    ]);
    for group in groups {
        let counts = [group.ready.to_string(), group.in_work.to_string()];
        table.row([group.group.to_string()].into_iter().chain(counts).collect());
    }
    table
}
