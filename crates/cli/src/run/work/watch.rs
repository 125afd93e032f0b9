//! The messages of a worker about a store that does not answer, and about a paused queue. Without
//! them the worker would wait in silence.

use std::time::Duration;

use seinpaal::{Queue, Seinpaal};
use tokio::time::interval;

use crate::{
    output::{NamedStore, Voice},
    run::{
        ending::silence,
        waiting::{StoreNews, StoreVigil, WORTH_A_LINE},
    },
};

/// Prints one line when an outage begins, and one when it ends. Never ends itself.
pub(crate) async fn watch<T>(seinpaal: &Seinpaal, subject: NamedStore<'_>, voice: Voice) -> T {
    let mut vigil = StoreVigil::keep(seinpaal);
    let mut is_told = false;
    loop {
        let words = match vigil.next().await {
            StoreNews::Back => {
                if std::mem::take(&mut is_told) {
                    voice.say(subject.line("the store answers again"));
                }
                continue;
            }
            StoreNews::Silent(outage) if outage.lasted < WORTH_A_LINE => continue,
            StoreNews::Silent(outage) => silence(&outage),
            StoreNews::Full(error) => error.to_string(),
        };
        if !std::mem::replace(&mut is_told, true) {
            voice.say(subject.line(&format!("{words}; trying on")));
        }
    }
}

/// How often to look whether a queue is paused.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// After how many looks at a paused queue the line about it is printed again.
const LOOKS_PER_LINE: u32 = 10;

/// Prints a line when a queue that is to be emptied is paused, and again every ten minutes. Never
/// ends.
pub(super) async fn watch_pause<T>(queue: &Queue, subject: NamedStore<'_>, voice: Voice) -> T {
    let (mut ticks, mut looks) = (interval(LOOK_EVERY), 0);
    loop {
        ticks.tick().await;
        // The worker deals with a store that does not answer.
        let Ok(seen) = queue.snapshot().await else { continue };
        let Some(reason) = seen.paused else {
            looks = 0;
            continue;
        };
        if looks % LOOKS_PER_LINE == 0 {
            let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
            let words = format!("paused{reason}; waiting until `seinpaal queue resume`");
            voice.say(subject.line(&words));
        }
        looks += 1;
    }
}
