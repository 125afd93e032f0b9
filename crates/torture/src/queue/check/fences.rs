//! Fences grow. A queue draws the fences of all its items from one growing number.

use std::collections::BTreeMap;

use crate::{
    check::{Check, Violation},
    queue::tale::{ItemTale, ToldDelivery},
};

/// A delivery, and the item.
type DeliveryOfItem<'a> = (&'a ToldDelivery, &'a ItemTale);

pub(super) fn check(tales: &BTreeMap<String, ItemTale>, found: &mut Vec<Violation>) {
    let all = tales.values().flat_map(|tale| tale.deliveries.iter().map(move |it| (it, tale)));
    let mut in_hand: Vec<DeliveryOfItem<'_>> = all.collect();
    in_hand.sort_by_key(|(it, _)| it.at);
    twice(&in_hand, found);
    fall(&in_hand, found);
}

/// No fence is given twice.
fn twice(in_hand: &[DeliveryOfItem<'_>], found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
    for next in in_hand {
        found.extend(seen.insert(next.0.fence, next).map(|one| breach(one, next)));
    }
}

/// A delivery that a worker asked for when another was in hand has a greater fence. More is not
/// proved: a worker may note a delivery long after the store has made it.
fn fall(in_hand: &[DeliveryOfItem<'_>], found: &mut Vec<Violation>) {
    let mut asked: Vec<_> = in_hand.iter().filter_map(|it| Some((it.0.popped?, it))).collect();
    asked.sort_by_key(|(popped, _)| *popped);
    let mut earlier = in_hand.iter().peekable();
    let mut greatest: Option<&DeliveryOfItem<'_>> = None;
    for (popped, next) in asked {
        while let Some(one) = earlier.next_if(|(it, _)| it.at < popped) {
            greatest = greatest.into_iter().chain([one]).max_by_key(|(it, _)| it.fence);
        }
        let greater = greatest.filter(|(it, _)| it.fence > next.0.fence);
        found.extend(greater.map(|one| breach(one, next)));
    }
}

fn breach(one: &DeliveryOfItem<'_>, next: &DeliveryOfItem<'_>) -> Violation {
    let story = format!("{}: {:?}; {}: {:?}", one.1.req, one.0, next.1.req, next.0);
    Violation { check: Check::Fence, at: next.0.at, story }
}
