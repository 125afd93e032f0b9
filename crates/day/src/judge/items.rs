//! The rule that every item is done once, in the order of the pushes, and that an item which always
//! fails is tried five times.

use std::collections::BTreeMap;

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
    judged
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
    for delivery in deliveries {
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
