//! Items that fall due within one second: how late they are delivered, and at what cost.

use std::time::{Duration, UNIX_EPOCH};

use seinpaal::{Push, Queue, Seinpaal};

use crate::{
    Place,
    crew::{Crew, payload, wall},
    table::{Bound, Table, quantile, text},
};

const SECOND: u64 = 1_000_000;
const WORKERS: u32 = 8;
const CONCURRENCY: u32 = 8;

pub(crate) async fn same_second(place: &Place, is_quick: bool, table: &mut Table) {
    let items: u64 = if is_quick { 1_000 } else { 10_000 };
    let seinpaal = Seinpaal::connect(&place.url()).await.expect("the store is there");
    let queue = seinpaal.queue("due");
    let crew = Crew::start(&place.url(), &queue, WORKERS, CONCURRENCY).await;
    // The items are pushed well before they are due, because otherwise the pushes would be
    // measured.
    let first = wall() + items * 3_000 + 3 * SECOND;
    push(&queue, items, first).await;
    assert!(
        wall() < first,
        "pushing took too long: the first item was due before the last was pushed"
    );
    let what = format!("{}: {items} items due within a second, {WORKERS} workers", place.kind);
    let before = place.server.is_some().then(|| calls(&place.url()));
    let worked = crew.worked(usize::try_from(items).expect("small"));
    let early = worked.iter().filter(|worked| worked.began < worked.stamp).count();
    let late = |worked: &crate::crew::Worked| worked.began.saturating_sub(worked.stamp);
    let mut late: Vec<_> =
        worked.iter().map(|worked| Duration::from_micros(late(worked))).collect();
    table.count(&format!("{what}: early"), early as f64, Bound::Exactly(0.0), "");
    let [p50, p99, worst] = [0.5, 0.99, 1.0].map(|part| text(quantile(&mut late, part)));
    table.figure(
        &format!("{what}: late, p50 / p99 / worst"),
        &format!("{p50} / {p99} / {worst}"),
        "",
    );
    if let Some(before) = before {
        let figure = (calls(&place.url()) - before) as f64 / items as f64;
        table.count(&format!("{what}: commands an item"), figure, Bound::AtMost(2.0), "");
    }
}

/// How many scripts clients have called. Listening to every command, as elsewhere, would slow the
/// server down, because it reports each command that a script calls.
fn calls(url: &str) -> u64 {
    let client = redis::Client::open(url).expect("a good URL");
    let mut observer = client.get_connection().expect("the server listens");
    let info: String =
        redis::cmd("INFO").arg("commandstats").query(&mut observer).expect("the server answers");
    let of = |line: &str| {
        let (command, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let is_script = command.starts_with("eval") || command.starts_with("fcall");
        rest.split_once(',')?.0.parse::<u64>().ok().filter(|_| is_script)
    };
    info.lines().filter_map(of).sum()
}

async fn push(queue: &Queue, items: u64, first: u64) {
    let push = |item: u64| {
        let due = first + item * SECOND / items;
        let due_at = UNIX_EPOCH + Duration::from_micros(due);
        Push::new(payload(0, Duration::ZERO, due)).due(due_at)
    };
    for pushed in queue.push_all((0..items).map(push)).await {
        pushed.expect("it is pushed");
    }
}
