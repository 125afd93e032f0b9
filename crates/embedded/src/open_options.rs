//! What a test may choose when it opens a store.

use std::io;

use rusqlite::Connection;
use seinpaal_store::clock::Clock;

/// Options of [`EmbeddedStore::open_with`](crate::EmbeddedStore::open_with). Tests use them;
/// programs open a store without any.
pub struct OpenOptions {
    /// The clock in place of the machine's.
    pub clock: Clock,
    /// Called where the store would wait for the disk, and where it would write the log back, in
    /// place of doing so.
    pub sync: Option<Box<dyn FnMut() -> io::Result<()> + Send>>,
    /// Called with the connection to the database before the first call.
    pub on_connection: Option<fn(&mut Connection)>,
    /// Whether this client leaves out its look once a second whether the holders are alive. Then a
    /// death that it notices is one that it was told of.
    pub looks_only_when_told: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { clock: Clock::System, sync: None, on_connection: None, looks_only_when_told: false }
    }
}

impl OpenOptions {
    /// The default options with this clock.
    #[must_use]
    pub fn with_clock(clock: Clock) -> Self {
        Self { clock, ..Self::default() }
    }

    /// The default options with this disk: see [`sync`](Self::sync).
    #[must_use]
    pub fn with_disk(sync: impl FnMut() -> io::Result<()> + Send + 'static) -> Self {
        Self { sync: Some(Box::new(sync)), ..Self::default() }
    }
}
