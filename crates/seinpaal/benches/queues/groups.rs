//! A group that takes as much as it can get, and the groups beside it.

use std::{collections::HashMap, time::Duration};

use seinpaal::{Push, Queue, Seinpaal};

use crate::{
    Place,
    crew::{Crew, Worked, payload, wall},
    table::{Bound, Table, quantile, text},
};

const GROUPS: u64 = 20;
const LIMIT: u32 = 2;
const TIMES_AS_MUCH: u64 = 100;
/// The time between two pushes to each of the small groups.
const PACE: Duration = Duration::from_millis(250);
const HOLD: Duration = Duration::from_millis(20);
/// More than all groups together may have in work, so that only the groups' limit holds items back.
const WORKERS: u32 = 4;
const CONCURRENCY: u32 = 16;

pub(crate) async fn one_takes_all(place: &Place, is_quick: bool, table: &mut Table) {
    let rounds = if is_quick { 12 } else { 80 };
    for is_big_there in [false, true] {
        let worked = run(place, rounds, is_big_there).await;
        let most = most_at_once(&worked);
        let kind = place.kind;
        let who = if is_big_there { "20 groups, one with 100 times the load" } else { "19 groups" };
        let what = format!("{kind}: {who}, limit {LIMIT} each");
        let highest = most.values().copied().max().unwrap_or_default();
        let bound = Bound::AtMost(LIMIT.into());
        table.count(&format!("{what}: most at once of any"), highest as f64, bound, "");
        let small = worked.iter().filter(|worked| worked.group > 0);
        let wait =
            |worked: &Worked| Duration::from_micros(worked.began.saturating_sub(worked.stamp));
        let mut waits: Vec<_> = small.map(wait).collect();
        let expected = (rounds * (GROUPS - 1)) as f64;
        let served = waits.len() as f64;
        table.count(
            &format!("{what}: items of the small ones, of {expected}"),
            served,
            Bound::Exactly(expected),
            "",
        );
        let [p50, p99, worst] = [0.5, 0.99, 1.0].map(|part| text(quantile(&mut waits, part)));
        let shown = format!("{p50} / {p99} / {worst}");
        table.figure(
            &format!("{what}: push to start of the small ones, p50 / p99 / worst"),
            &shown,
            "",
        );
        if is_big_there {
            let big = worked.len() as f64 - served;
            table.figure(&format!("{what}: items of the big one meanwhile"), &big.to_string(), "");
        }
    }
}

async fn run(place: &Place, rounds: u64, is_big_there: bool) -> Vec<Worked> {
    let seinpaal = Seinpaal::connect(&place.url()).await.expect("the store is there");
    let queue = seinpaal.queue(&format!("groups {is_big_there}"));
    queue.group_limit(Some(LIMIT)).await.expect("the store answers");
    let crew = Crew::start(&place.url(), &queue, WORKERS, CONCURRENCY).await;
    let mut tick = tokio::time::interval(PACE);
    for _ in 0..rounds {
        tick.tick().await;
        if is_big_there {
            push(&queue, (0..TIMES_AS_MUCH).map(|_| 0)).await;
        }
        push(&queue, 1..GROUPS).await;
    }
    // The backlog of the big group is not waited for. The small groups have long been served, or
    // are not.
    tokio::time::sleep(Duration::from_secs(1)).await;
    crew.worked_so_far()
}

async fn push(queue: &Queue, groups: impl Iterator<Item = u64>) {
    let push =
        |group: u64| Push::new(payload(group, HOLD, wall())).group(&format!("group {group}"));
    for pushed in queue.push_all(groups.map(push)).await {
        pushed.expect("it is pushed");
    }
}

/// For each group, the most items that were worked on at one moment.
fn most_at_once(worked: &[Worked]) -> HashMap<u64, i64> {
    let step =
        |worked: &Worked| [(worked.ended, -1, worked.group), (worked.began, 1, worked.group)];
    let mut steps: Vec<(u64, i64, u64)> = worked.iter().flat_map(step).collect();
    steps.sort_unstable(); // at the same moment, ends come first
    let (mut now, mut most) = (HashMap::new(), HashMap::new());
    for (_, change, group) in steps {
        let count: &mut i64 = now.entry(group).or_default();
        *count += change;
        let highest: &mut i64 = most.entry(group).or_default();
        *highest = (*highest).max(*count);
    }
    most
}
