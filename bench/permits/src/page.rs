//! The generated part of docs/internals/performance.md: a line for each row, and then each row with
//! all its peers.

use std::{fs, io, path::Path};

use crate::{
    peer,
    report::{Line, short},
    rows::{self, Best, Row},
};

const BEGIN: &str = "<!-- made by `bench/run --page`: do not edit from here -->";
const END: &str = "<!-- to here -->";
/// The number of commits that fit into a line of 100 columns, after the text before them.
const COMMITS_A_LINE: usize = 7;

pub(crate) fn write(page: &Path, lines: &[Line]) -> io::Result<()> {
    let text = fs::read_to_string(page)?;
    let (before, rest) = text.split_once(BEGIN).ok_or_else(|| no(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| no(END))?;
    fs::write(page, format!("{before}{BEGIN}\n\n{}{END}{after}", made(lines)))
}

fn no(marker: &str) -> io::Error {
    io::Error::other(format!("the page has no line {marker}"))
}

fn made(lines: &[Line]) -> String {
    let rows = rows::all();
    let of = |row: &Row| -> Vec<&Line> {
        let mut of: Vec<_> = lines.iter().filter(|line| line.row == row.name).collect();
        of.sort_by(|one, other| order(row, one).total_cmp(&order(row, other)));
        of
    };
    let summary: String = rows.iter().filter_map(|row| beside(row, &of(row))).collect();
    let details: String = rows.iter().map(|row| detail(row, &of(row))).collect();
    format!(
        "{}\n{}\n| row | ours | the best peer | ours, times it |\n|---|---|---|---|\n{summary}\n{details}",
        measured(lines),
        in_short(lines)
    )
}

/// Sentences with figures that a reader would otherwise have to compute.
fn in_short(lines: &[Line]) -> String {
    let of = |row: &str, what: &str| {
        let line = lines.iter().find(|line| line.row == row && line.who == "Seinpaal")?;
        line.figures.iter().find(|(it, _)| it == what).map(|(_, of)| *of)
    };
    let carries = |what: &str, row: &str| {
        let work = of(row, "server µs a pair")?;
        let (work, rate) = (short(work), short(1e6 / work));
        Some(format!(
            "- {what}: {work} µs of the server a pair.\n  One server carries at most {rate} pairs a second.\n"
        ))
    };
    let waiting = || {
        let (some, many) =
            (of("idle", "100 connections")?, of("idle", "10 000 tasks of one connection")?);
        let (some, many) = (short(some), short(many));
        Some(format!(
            "- A hundred processes that wait send {some} commands a second in all; ten thousand tasks of one process, {many}.\n"
        ))
    };
    // The row of a lone task is left out: the server sleeps between its calls, and waking the
    // server is most of the cost.
    let lines = [
        carries("Many tasks, each at a name of its own", "apart"),
        carries("Many tasks at one name", "together"),
        waiting(),
    ];
    lines.into_iter().flatten().collect()
}

/// The commits and the server that were measured, and the load of the machine.
fn measured(lines: &[Line]) -> String {
    let mut commits: Vec<&str> = lines.iter().map(|line| line.commit.as_str()).collect();
    commits.sort_unstable();
    commits.dedup();
    let mut servers: Vec<&str> = lines.iter().map(|line| line.server.as_str()).collect();
    servers.sort_unstable();
    servers.dedup();
    let loads = || lines.iter().map(|line| line.load);
    let (least, most) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    let commits: Vec<String> = commits.chunks(COMMITS_A_LINE).map(|some| some.join(", ")).collect();
    format!(
        "Measured at commit {}.\nRedis {}. Load of the machine: {least:.0} to {most:.0}.\n",
        commits.join(",\n"),
        servers.join(", ")
    )
}

/// The key by which peers are sorted: the best peer comes first, and peers without figures last.
fn order(row: &Row, line: &Line) -> f64 {
    let first = line.figures.first().map_or(f64::INFINITY, |(_, of)| *of);
    if row.best == Best::Most && first.is_finite() { -first } else { first }
}

/// A line with Seinpaal and the best peer, for each figure that both have.
fn beside(row: &Row, lines: &[&Line]) -> Option<String> {
    let ours = lines.iter().find(|line| line.who == "Seinpaal")?;
    let peers = || lines.iter().filter(|line| is_peer(line));
    let of = |line: &Line, what: &str| line.figures.iter().find(|it| it.0 == what).map(|it| it.1);
    let mut made = String::new();
    for (what, figure) in &ours.figures {
        let is_better = |one: &(f64, _), other: &(f64, _)| match is_most(row, what) {
            true => other.0.total_cmp(&one.0),
            false => one.0.total_cmp(&other.0),
        };
        let theirs = peers().filter_map(|line| Some((of(line, what)?, line.who.as_str())));
        let Some((best, who)) = theirs.min_by(is_better) else { continue };
        if what == "ours, times it" {
            continue;
        }
        let (ours, best, times) = (short(*figure), short(best), short(figure / best));
        made += &format!("| `{}`: {what} | {ours} | {best}, {who} | {times} |\n", row.name);
    }
    Some(made)
}

/// Returns whether more of this figure is better.
fn is_most(row: &Row, what: &str) -> bool {
    what == "utilisation" || (row.best == Best::Most && !what.contains('µ'))
}

fn is_peer(line: &Line) -> bool {
    line.who != "Seinpaal" && !line.version.is_empty()
}

fn detail(row: &Row, lines: &[&Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut whats: Vec<&str> = Vec::new();
    for (what, _) in lines.iter().flat_map(|line| &line.figures) {
        if !whats.contains(&what.as_str()) {
            whats.push(what);
        }
    }
    let head = format!("| who | {} |\n|---|{}\n", whats.join(" | "), "---|".repeat(whats.len()));
    let body: String = lines.iter().map(|line| who(line, &whats)).collect();
    format!("### `{}`: {}\n\n{head}{body}\n", row.name, row.title)
}

fn who(line: &Line, whats: &[&str]) -> String {
    let name = format!("{} {}", line.who, line.version);
    let name = if line.who.starts_with("Seinpaal") || line.who.starts_with(peer::OURS) {
        format!("**{}**", name.trim())
    } else {
        name.trim().to_owned()
    };
    let figure = |what: &&str| {
        let found = line.figures.iter().find(|(it, _)| it == what);
        found.map_or_else(|| "–".to_owned(), |(_, of)| short(*of))
    };
    let cells: Vec<_> = whats.iter().map(figure).collect();
    let why = line.left_out.as_ref().map_or(String::new(), |why| format!(" (left out: {why})"));
    format!("| {name}{why} | {} |\n", cells.join(" | "))
}
