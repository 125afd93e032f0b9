//! The error by which a handler gives an item back.

use std::{error::Error, fmt, time::Duration};

/// The error by which a handler leaves an item to somebody else. It may be wrapped in others.
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
    /// At once, to where it stood.
    #[must_use]
    pub fn now() -> Self {
        Self::default()
    }

    /// After this long.
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

/// The one in this error or in what caused it.
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
