//! The beginning and the end of a run of a queue. At the beginning the rig sets the limits. At the
//! end it takes out the items that are left, so that the checker can tell them from lost items.

use std::{collections::BTreeSet, io, path::Path, thread, time::Duration};

use seinpaal::{ItemId, Queue, Seinpaal, blocking::wait};

use super::{GROUP_LIMIT, LIMIT, labour};
use crate::history::{self, HistoryEvent, Pen, TortureWhat};

/// How long the items of dead workers, and delayed items, may take to become ready.
const FADING: Duration = Duration::from_secs(60);
/// Items that are still delayed after this part of [`FADING`] are due hours later, because a clock
/// was set. No worker delays an item for as much as a second.
const STILL_DELAYED: u128 = 6;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const PAGE: u32 = 1000;

/// Sets the limits.
///
/// # Errors
/// If the store cannot be asked.
pub fn begin(url: &str, pen: &Pen) -> io::Result<()> {
    let seinpaal = wait(Seinpaal::connect(url)).map_err(io::Error::other)?;
    let queue = labour::queue(&seinpaal);
    wait(queue.limit(Some(LIMIT))).map_err(io::Error::other)?;
    wait(queue.group_limit(Some(GROUP_LIMIT))).map_err(io::Error::other)?;
    pen.write(TortureWhat::Limits { limit: LIMIT, group_limit: GROUP_LIMIT });
    Ok(())
}

/// Pops and acknowledges all items. Then writes down how many items remain, and each dead letter.
///
/// # Errors
/// If the store cannot be asked.
pub fn empty(seinpaal: &Seinpaal, pen: &Pen, path: &Path) -> io::Result<()> {
    let queue = labour::queue(seinpaal);
    let looks = FADING.as_millis() / BETWEEN_LOOKS.as_millis();
    for number in 0..u64::try_from(looks).unwrap_or(0) {
        while let Some(item) = wait(queue.try_pop()).map_err(io::Error::other)? {
            labour::note(pen, &format!("rig.{number}"), &item);
            let (id, fence) = (item.id().0, item.fence().0);
            pen.write(TortureWhat::Finishing { id, fence, how: "acknowledge".to_owned() });
            let end = if wait(item.acknowledge()).is_ok() { "acknowledged" } else { "lost" };
            pen.write(TortureWhat::Finished { id, fence, end: end.to_owned() });
        }
        let seen = wait(queue.snapshot()).map_err(io::Error::other)?;
        if seen.is_empty() {
            break;
        }
        if seen.ready + seen.in_work == 0 && u128::from(number) > looks / STILL_DELAYED {
            cancel_delayed(&queue, pen, &history::read(path)?)?;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    let seen = wait(queue.snapshot()).map_err(io::Error::other)?;
    pen.write(TortureWhat::QueueLeft {
        ready: seen.ready,
        delayed: seen.delayed,
        in_work: seen.in_work,
    });
    let mut after = ItemId(0);
    loop {
        let dead = wait(queue.dead(Some(after), PAGE)).map_err(io::Error::other)?;
        let Some(last) = dead.last() else { return Ok(()) };
        after = last.id;
        for letter in dead {
            pen.write(TortureWhat::DeadLetter { id: letter.id.0 });
        }
    }
}

/// Cancels items that were delayed while the store's clock was ahead, and are due hours later. The
/// checker only needs to know that they were not lost. Items whose push was not answered have no
/// known number, so they are purged.
fn cancel_delayed(queue: &Queue, pen: &Pen, events: &[HistoryEvent]) -> io::Result<()> {
    let mut open = BTreeSet::new();
    for event in events {
        match &event.what {
            TortureWhat::Pushed { id, .. } | TortureWhat::Delivered { id, .. } => {
                open.insert(*id);
            }
            TortureWhat::Finished { id, end, .. } if end == "acknowledged" => drop(open.remove(id)),
            _ => {}
        }
    }
    for id in open {
        if wait(queue.cancel(ItemId(id))).is_ok() {
            pen.write(TortureWhat::StillDelayed { id });
        }
    }
    wait(queue.purge()).map(drop).map_err(io::Error::other)
}
