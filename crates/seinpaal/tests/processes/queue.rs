//! A client that puts items into queues and works on them.

use std::sync::Arc;

use seinpaal::store::{Store, StoreError, embedded::EmbeddedStore};
use seinpaal_proto::{
    Inbox, Name, Priority,
    queue::{Batch, Delivery, Due, How, Pop, Popped, Push, Replies, Reply, Request, What},
    time::SECOND,
};

/// A deadline in microseconds that never passes, because nothing here may come too late.
const NEVER: u64 = 1 << 52;

/// One session at any number of queues. It works with leases of ten minutes, so only deaths end
/// them.
pub(crate) struct Hand {
    store: Arc<EmbeddedStore>,
    inbox: Inbox,
    number: u64,
    in_hand: Vec<Delivery>,
}

pub(crate) fn push(payload: impl Into<Vec<u8>>) -> Push {
    Push {
        payload: payload.into(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 3,
        about: String::new(),
    }
}

pub(crate) fn pop(items: u32) -> Pop {
    let (ttl, margin) = (600 * SECOND, 150 * SECOND);
    Pop { items, ttl, margin, wait: true, drains: false, about: String::new() }
}

/// Texts with the number of the delivery: `a 1 b 2`.
pub(crate) fn texts(items: &[Popped]) -> String {
    let text =
        |item: &Popped| format!(" {} {}", String::from_utf8_lossy(&item.payload), item.attempt);
    items.iter().map(text).collect()
}

/// A client's word for a wakeup, or nothing if the wakeup only says when to look again.
pub(crate) fn told(wakeup: &seinpaal_proto::queue::Wakeup) -> Option<&'static str> {
    match wakeup.what {
        What::Called => Some("news called"),
        What::Lost(_) => Some("news lost"),
        _ => None,
    }
}

impl Hand {
    pub(crate) fn new(store: Arc<EmbeddedStore>, inbox: Inbox) -> Self {
        Self { store, inbox, number: 0, in_hand: Vec::new() }
    }

    pub(crate) async fn send(
        &mut self,
        queue: &str,
        requests: Vec<Request>,
    ) -> Result<Replies, StoreError> {
        self.number += 1;
        let (name, session, number) = (Name::new(queue).unwrap(), self.inbox, self.number);
        let batch = Batch { name, session, number, not_after: NEVER, seen: 0, requests };
        self.store.call_queue(&batch).await
    }

    pub(crate) async fn ask(&mut self, queue: &str, request: Request) -> Reply {
        self.send(queue, vec![request]).await.unwrap().replies.remove(0)
    }

    /// Takes more items to work on, and acknowledges none of them yet.
    pub(crate) async fn pop(&mut self, queue: &str, items: u32) -> Vec<Popped> {
        let Reply::Popped { items, .. } = self.ask(queue, Request::Pop(pop(items))).await else {
            panic!("nothing was popped");
        };
        self.in_hand.extend(items.iter().map(|item| item.delivery));
        items
    }

    pub(super) async fn push(&mut self, queue: &str, payload: Vec<u8>) -> String {
        match self.send(queue, vec![Request::Push(push(payload))]).await {
            Ok(_) => "pushed".to_owned(),
            Err(error) => super::client::failed(&error),
        }
    }

    pub(super) async fn work(&mut self, queue: &str, items: u32) -> String {
        format!("works on{}", texts(&self.pop(queue, items).await))
    }

    pub(super) async fn acknowledge(&mut self, queue: &str) -> String {
        let finish = |delivery| Request::Finish { delivery, how: How::Acknowledge };
        let requests: Vec<_> = self.in_hand.drain(..).map(finish).collect();
        let replies = self.send(queue, requests).await.unwrap().replies;
        let done = replies.iter().filter(|reply| matches!(reply, Reply::Acknowledged { .. }));
        format!("acknowledged {}", done.count())
    }
}
