//! How many changes are under way, for a program that ends.

use tokio::sync::watch;

/// How many changes are under way.
#[derive(Debug, Default)]
pub(crate) struct ChangesUnderWay(watch::Sender<usize>);

impl ChangesUnderWay {
    pub(crate) fn begin(&self) {
        self.0.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn end(&self) {
        self.0.send_modify(|changes| *changes -= 1);
    }

    /// Waits until there is none.
    pub(crate) async fn none(&self) {
        // The sender is here, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|changes| *changes == 0).await;
    }
}
