//! `queue list`: a row a queue.

use seinpaal::QueueSnapshot;

use crate::{
    args::{Global, queue::List},
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Align, Table, may_be_bold},
        text::age,
    },
};

/// Lists the queues in use.
pub(super) fn list(global: &Global, args: &List, voice: Voice) -> Result<Exit, Failure> {
    let queues = ask(global, voice, "seinpaal queue list", "", async |seinpaal| {
        Ok(seinpaal.queues(&args.prefix).await?)
    })?;
    let text = if global.json {
        queues.iter().map(|queue| json::line(&json::queue::Row::new(queue))).collect()
    } else if queues.is_empty() {
        String::new()
    } else {
        table(&queues).render(may_be_bold())
    };
    output::print(&text).map(|()| Exit::Success)
}

fn table(queues: &[QueueSnapshot]) -> Table {
    let mut table = Table::new(&[
        ("NAME", Align::Left),
        ("READY", Align::Right),
        ("DELAYED", Align::Right),
        ("IN WORK", Align::Right),
        ("DEAD", Align::Right),
        ("LIMIT", Align::Right),
        ("OLDEST", Align::Right),
        ("STATE", Align::Left),
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
