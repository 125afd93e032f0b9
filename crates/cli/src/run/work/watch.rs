//! The messages of a worker about a store that does not answer. Without them the worker would wait
//! in silence.

use seinpaal::Seinpaal;

use crate::{
    output::{NamedStore, Voice},
    run::{
        ending::silence,
        waiting::{StoreNews, StoreVigil, WORTH_A_LINE},
    },
};

/// Prints one line for each outage. Never ends.
pub(super) async fn watch<T>(seinpaal: &Seinpaal, subject: NamedStore<'_>, voice: Voice) -> T {
    let mut vigil = StoreVigil::keep(seinpaal);
    let mut is_told = false;
    loop {
        let words = match vigil.next().await {
            StoreNews::Back => {
                if std::mem::take(&mut is_told) {
                    voice.explain(subject.line("the store answers again"));
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
