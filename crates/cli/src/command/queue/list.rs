//! `queue list`: prints a row for each queue.

use seinpaal::QueueSnapshot;

use crate::{
    args::{Global, queue::QueueListArgs},
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::age,
    },
};

/// Lists the queues in use.
pub(super) fn list(global: &Global, args: &QueueListArgs, voice: Voice) -> Result<Exit, Failure> {
    let queues = ask(global, voice, "seinpaal queue list", "", async |seinpaal| {
        Ok(seinpaal.queues(&args.prefix).await?)
    })?;
    let text = if global.json {
        queues.iter().map(|queue| json::line(&json::queue::QueueJson::new(queue))).collect()
    } else if queues.is_empty() {
        String::new()
    } else {
        table(&queues).render(TableRoom::of_stdout(args.width.wide))
    };
    output::print(&text).map(|()| Exit::Success)
}

fn table(queues: &[QueueSnapshot]) -> Table {
    let mut table = Table::new(&[
        Column::left("NAME").cut_start(20),
        Column::right("READY"),
        Column::right("DELAYED").rank(3),
        Column::right("IN WORK"),
        Column::right("DEAD").rank(1),
        Column::right("LIMIT").rank(4),
        Column::right("OLDEST").rank(2),
        Column::left("STATE").rank(1),
    ]);
    for queue in queues {
        table.row(vec![
            queue.name.to_string(),
            queue.ready.to_string(),
            queue.delayed.to_string(),
            queue.in_work.to_string(),
            queue.dead.to_string(),
            queue.limit.map(|limit| limit.to_string()).unwrap_or_default(),
            queue.oldest.map(age).unwrap_or_default(),
            json::queue::state(queue).to_owned(),
        ]);
    }
    table
}
