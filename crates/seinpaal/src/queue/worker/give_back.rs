//! The error by which a handler gives an item back.

use std::{error::Error, fmt, time::Duration};

/// The error by which a handler leaves an item to another worker. Other errors may wrap it.
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
    pub(super) delay: Duration,
}

impl GiveBack {
    /// Gives the item back at once, to its old place in the order.
    #[must_use]
    pub fn now() -> Self {
        Self::default()
    }

    /// Gives the item back, to be delivered again after this long.
    #[must_use]
    pub fn after(delay: Duration) -> Self {
        Self { delay }
    }
}

impl fmt::Display for GiveBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "given back for {:?}", self.delay)
    }
}

impl Error for GiveBack {}

/// Finds a [`GiveBack`] in this error or in its causes.
pub(super) fn find_give_back(error: &(dyn Error + 'static)) -> Option<GiveBack> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(give_back) = error.downcast_ref::<GiveBack>() {
            return Some(*give_back);
        }
        next = error.source();
    }
    None
}
