//! No false alarm: where no fault has effects, no worker loses an item, is turned away, or finds
//! that a delivery was over.

use super::Trouble;
use crate::{
    check::{Check, Violation},
    history::{HistoryEvent, TortureWhat},
};

/// Returns beside how many deliveries this was judged.
pub(super) fn check(events: &[HistoryEvent], trouble: &Trouble, found: &mut Vec<Violation>) -> u64 {
    let mut calm = 0;
    for event in events {
        let story = alarm(&event.what);
        let is_delivery = matches!(event.what, TortureWhat::Delivered { .. });
        if (story.is_none() && !is_delivery) || !trouble.is_calm(event.at, event.at) {
            continue;
        }
        calm += u64::from(is_delivery);
        if let Some(story) = story {
            let story = format!("{}: {story}", event.who);
            found.push(Violation { check: Check::Alarm, at: event.at, story });
        }
    }
    calm
}

fn alarm(what: &TortureWhat) -> Option<String> {
    match what {
        TortureWhat::ItemLost { id, fence } => Some(format!("item {id} ({fence}) is lost")),
        TortureWhat::Finished { id, fence, end } if end == "lost" || end == "unknown" => {
            Some(format!("the end of item {id} ({fence}) is {end}"))
        }
        TortureWhat::PopEnded { req, why } if why != "stop" => {
            Some(format!("{req} is turned away: {why}"))
        }
        TortureWhat::NotPushed { req, why, .. } => Some(format!("{req} is not pushed: {why}")),
        _ => None,
    }
}
