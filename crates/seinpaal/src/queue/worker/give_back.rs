//! The error by which a handler gives an item back.

use std::{error::Error, fmt, iter::successors, time::Duration};

/// The error by which a handler leaves an item to another worker. Other errors may wrap it, such as
/// `anyhow::Error` or a `Box<dyn Error>`, as long as it is among their
/// [sources](std::error::Error::source).
///
/// ```
/// use seinpaal::{GiveBack, Item};
/// use std::time::Duration;
///
/// async fn send(item: Item) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     if item.group() == Some("closed today") {
///         Err(GiveBack::after(Duration::from_secs(3600)))?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct GiveBack {
    source: Delay,
}

/// The source of every [`GiveBack`]. `anyhow` hides the outermost error from `downcast_ref` when
/// it turns into a `Box<dyn Error>`, but not the sources.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Delay(Duration);

impl GiveBack {
    /// Gives the item back at once, to its old place in the order.
    #[must_use]
    pub fn now() -> Self {
        Self::default()
    }

    /// Gives the item back, to be delivered again after this long.
    #[must_use]
    pub fn after(delay: Duration) -> Self {
        Self { source: Delay(delay) }
    }
}

impl fmt::Display for GiveBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "given back for {:?}", self.source.0)
    }
}

impl Error for GiveBack {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the delivery does not count")
    }
}

impl Error for Delay {}

/// Returns the delay if this error, or one of its sources, is a [`GiveBack`].
pub(super) fn find_give_back(error: &(dyn Error + 'static)) -> Option<Duration> {
    successors(Some(error), |&error| error.source())
        .find_map(|error| error.downcast_ref::<Delay>())
        .map(|delay| delay.0)
}
