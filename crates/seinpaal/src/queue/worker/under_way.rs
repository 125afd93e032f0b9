//! The work of a worker on one item.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::counts::ItemEnd;
use crate::queue::item::SharedItem;

/// An item, and the work on it until its end is known.
pub(super) struct WorkUnderWay<W> {
    pub(super) item: Arc<SharedItem>,
    pub(super) work: Pin<Box<W>>,
}

impl<W> WorkUnderWay<W> {
    /// The end of an item whose handler has not returned when the grace period is over, or whose
    /// end the store has not confirmed by then. If the delivery has not been ended, the item goes
    /// back.
    pub(super) fn cut_short(&self) -> ItemEnd {
        let end = self.item.end_now();
        ItemEnd { end, is_given_back: self.item.is_given_back() }
    }
}

impl<W: Future<Output = ItemEnd>> Future for WorkUnderWay<W> {
    type Output = ItemEnd;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ItemEnd> {
        self.work.as_mut().poll(context)
    }
}
