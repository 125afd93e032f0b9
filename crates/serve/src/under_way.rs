//! The number of changes that are under way, for which a program waits before it ends.

use tokio::sync::watch;

/// The number of changes that are under way.
#[derive(Debug, Default)]
pub(crate) struct ChangesUnderWay(watch::Sender<usize>);

impl ChangesUnderWay {
    pub(crate) fn begin(&self) {
        self.0.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn end(&self) {
        self.0.send_modify(|changes| *changes -= 1);
    }

    /// Waits until no change is under way.
    pub(crate) async fn none(&self) {
        // This cannot fail, because the sender lives in `self`.
        let _ = self.0.subscribe().wait_for(|changes| *changes == 0).await;
    }
}
