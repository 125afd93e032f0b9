//! Writes down each delivery that a worker gives back. The library gives a delivery back by itself
//! if the worker has no use for it any more, and no handler sees that. So this module reads the
//! library's log, which has a line before each give-back.

use std::fmt::Debug;

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::history::ItemEvent;
use crate::history::Pen;

/// The words of the library's log, which its crate's documentation lists.
const GIVING_BACK: &str = "giving back";

/// Writes give-backs with this pen from now on. A process calls this once.
pub(super) fn write_down(pen: Pen) {
    let is_first = tracing::subscriber::set_global_default(GiveBacks(pen));
    is_first.expect("a worker reads the library's log in one place");
}

struct GiveBacks(Pen);

impl Subscriber for GiveBacks {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::DEBUG && metadata.target() == "seinpaal"
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = ToldEvent::default();
        event.record(&mut told);
        if told.message == GIVING_BACK {
            let (Some(id), Some(fence)) = (told.item, told.fence) else {
                panic!("a give-back is logged with its item and fence: {event:?}")
            };
            self.0.write(ItemEvent::GivingBack { id, fence });
        }
    }

    // The library logs events and no spans, so spans need nothing.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The fields of an event that are about a delivery.
#[derive(Default)]
struct ToldEvent {
    message: String,
    item: Option<u64>,
    fence: Option<u64>,
}

impl Visit for ToldEvent {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "item" => self.item = format!("{value:?}").parse().ok(),
            "fence" => self.fence = format!("{value:?}").parse().ok(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use seinpaal::Seinpaal;

    use super::*;
    use crate::history::{self, HistoryEvent};

    #[tokio::test]
    async fn a_give_back_is_written_down_and_no_other_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        write_down(Pen::open(&path, "w0.1").unwrap());
        let seinpaal = Seinpaal::in_memory();
        let queue = seinpaal.queue("q");
        queue.push("x").await.unwrap();
        let item = queue.pop().await.unwrap();
        let (id, fence) = (item.id().0, item.fence().0);
        item.give_back(Duration::ZERO).await.unwrap();
        queue.pop().await.unwrap().acknowledge().await.unwrap();
        let events: Vec<HistoryEvent<ItemEvent>> = history::read(&path).unwrap();
        let told: Vec<_> = events.into_iter().map(|event| event.what).collect();
        assert_eq!(told, [ItemEvent::GivingBack { id, fence }]);
    }
}
