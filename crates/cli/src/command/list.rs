//! `list`: prints a row for each name.

use seinpaal::{Kind, Snapshot};

use crate::{
    args::{Global, ListArgs, SortBy},
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::{age, has_no_limit, held},
    },
    top::arrange,
};

/// Lists the names in use.
pub(super) fn list(global: &Global, args: &ListArgs, voice: Voice) -> Result<Exit, Failure> {
    let names = ask(global, voice, "seinpaal list", "", async |seinpaal| {
        Ok(seinpaal.list(&args.prefix).await?)
    })?;
    print(global, &names, TableRoom::of_stdout(args.width.wide))
}

/// Prints the output of a `top` that cannot draw: the rows of `list`, in the order of `top`.
pub(crate) fn once(
    global: &Global,
    prefix: &str,
    sort: SortBy,
    voice: Voice,
) -> Result<Exit, Failure> {
    let mut names =
        ask(global, voice, "seinpaal top", "", async |seinpaal| Ok(seinpaal.list(prefix).await?))?;
    arrange(&mut names, sort);
    print(global, &names, TableRoom::of_stdout(false))
}

fn print(global: &Global, names: &[Snapshot], room: TableRoom) -> Result<Exit, Failure> {
    let text = if global.json {
        names.iter().map(|name| json::line(&json::NameJson::new(name))).collect()
    } else if names.is_empty() {
        String::new()
    } else {
        table(names).render(room)
    };
    output::print(&text).map(|()| Exit::Success)
}

fn table(names: &[Snapshot]) -> Table {
    let mut table = Table::new(&[
        Column::left("NAME").cut_start(20),
        Column::right("HELD"),
        Column::right("WAITING"),
        Column::right("OLDEST").rank(2),
        Column::left("STATE").rank(1),
    ]);
    for name in names {
        table.row(vec![
            name.name.to_string(),
            held_in_short(name),
            name.waiting_total.to_string(),
            name.oldest_wait().map(age).unwrap_or_default(),
            json::state(name).to_owned(),
        ]);
    }
    table
}

pub(crate) fn held_in_short(snapshot: &Snapshot) -> String {
    match snapshot.kind {
        Some(Kind::RwLock) => held(snapshot),
        _ if has_no_limit(snapshot) => "0/-".to_owned(),
        _ => format!("{}/{}", snapshot.permits_held, snapshot.limit),
    }
}
