//! `-vv`: the log of the library, one event on each line of stderr. It never waits, because it runs
//! on the thread that renews leases.

use std::fmt::{Debug, Write};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::{text::plain, voice::stderr};

/// The targets whose events are printed.
const TARGET: &str = "seinpaal";

/// Prints events from now on. A process has one such printer.
pub(crate) fn start() {
    let _ = tracing::subscriber::set_global_default(EventLog);
}

struct EventLog;

impl Subscriber for EventLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= Level::DEBUG
            && metadata.target().starts_with(TARGET)
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = EventWords::default();
        event.record(&mut words);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let line = format!("seinpaal: {level}: {}{}", words.message, words.fields);
        stderr().send(format!("{}\n", plain(&line)).into());
    }

    // Spans are not printed.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// An event as text: its message, and ` field=value` for each field.
#[derive(Default)]
struct EventWords {
    message: String,
    fields: String,
}

impl Visit for EventWords {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
