//! The rule that every item that was pushed is done once, in the order of the pushes, that no other
//! item is delivered, and that an item which always fails is tried five times.

use std::collections::{BTreeMap, BTreeSet};

use super::{DayCheck, tale::DayTale};
use crate::history::DeliveryToCmd;

/// The most deliveries of one item.
const DELIVERIES: usize = 5;

/// Judges the deliveries, and returns their number.
pub(super) fn check(tale: &DayTale<'_>, found: &mut Vec<(DayCheck, String)>) -> u64 {
    let mut judged = 0;
    for (queue, payloads) in &tale.pushed {
        let deliveries = tale.delivered.get(queue).map_or(&[][..], Vec::as_slice);
        judged += deliveries.len() as u64;
        let mut all: BTreeMap<&str, Vec<&DeliveryToCmd>> = BTreeMap::new();
        deliveries.iter().for_each(|it| all.entry(&it.payload).or_default().push(it));
        for payload in *payloads {
            let ends: Vec<_> =
                all.get(payload.as_str()).into_iter().flatten().map(|it| it.status).collect();
            if ends != wanted(payload) {
                found.push((DayCheck::Item, format!("{queue}: {payload} ended with {ends:?}")));
            }
        }
        check_order(queue, payloads, deliveries, found);
    }
    for (queue, deliveries) in &tale.delivered {
        check_origin(tale, queue, deliveries, found);
        check_fences(queue, deliveries, found);
    }
    judged
}

/// Every item that is delivered was pushed. The items of a push that failed may be in the queue or
/// not.
fn check_origin(
    tale: &DayTale<'_>,
    queue: &str,
    deliveries: &[&DeliveryToCmd],
    found: &mut Vec<(DayCheck, String)>,
) {
    let payloads = tale.pushed.get(queue).copied();
    if payloads.is_none() && has_failed_push(tale, queue) {
        return;
    }
    let was_pushed = |payload: &String| payloads.is_some_and(|all| all.contains(payload));
    let strange = deliveries.iter().map(|it| &it.payload).filter(|it| !was_pushed(it));
    for payload in strange.collect::<BTreeSet<_>>() {
        let story = format!("{queue}: {payload:?} was delivered and never pushed");
        found.push((DayCheck::Item, story));
    }
}

fn has_failed_push(tale: &DayTale<'_>, queue: &str) -> bool {
    let call = format!("queue push {queue} ");
    tale.jobs.values().any(|job| {
        let pushes = job.start.argv.iter().any(|word| word.contains(&call));
        pushes && job.ended.as_ref().is_none_or(|end| end.status != 0)
    })
}

/// No fence of a queue is given twice. The deliveries are in the order of fences.
fn check_fences(queue: &str, deliveries: &[&DeliveryToCmd], found: &mut Vec<(DayCheck, String)>) {
    for two in deliveries.windows(2).filter(|two| two[0].fence == two[1].fence) {
        found.push((
            DayCheck::Item,
            format!("{queue}: one fence for {:?} and {:?}", two[0], two[1]),
        ));
    }
}

fn wanted(payload: &str) -> Vec<i32> {
    match payload.rsplit_once('-').map(|(_, what)| what) {
        Some("later") => vec![75, 0],
        Some("twice") => vec![1, 0],
        Some("bad") => vec![3; DELIVERIES],
        _ => vec![0],
    }
}

/// Checks that the first deliveries of the items, in the order of fences, follow the order of the
/// pushes.
fn check_order(
    queue: &str,
    payloads: &[String],
    deliveries: &[&DeliveryToCmd],
    found: &mut Vec<(DayCheck, String)>,
) {
    let mut first: Vec<&str> = Vec::new();
    for delivery in deliveries.iter().filter(|it| payloads.contains(&it.payload)) {
        if !first.contains(&delivery.payload.as_str()) {
            first.push(&delivery.payload);
        }
    }
    let is_expected = first.iter().zip(payloads).all(|(seen, pushed)| seen == pushed);
    if !is_expected {
        found.push((
            DayCheck::Item,
            format!("{queue}: delivered as {first:?}, pushed as {payloads:?}"),
        ));
    }
}
