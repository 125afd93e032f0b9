//! The client of the cases about queues. It can push and work.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use seinpaal::store::{News, Store};
use seinpaal_proto::{
    Inbox,
    queue::{
        Batch, Delivery, How, ItemId, ItemPosition, ItemRow, ItemState, Pop, Popped, Push, Replies,
        Reply, Request, Snapshot, What,
    },
    time::micros,
};
use tokio::time::timeout;

use super::requests::{acknowledge, finish, item, pop, ranked, waiting};
use crate::{CaseStage, InboxClient, client::BOUND, requests::TTL};

/// A client, its clock, and the number of its last batch.
#[derive(Debug)]
pub(crate) struct QueueClient<'a> {
    stage: &'a CaseStage,
    client: InboxClient,
    last: AtomicU64,
}

impl CaseStage {
    /// A client of the queue of this stage's name.
    pub(crate) async fn queue_client(&self) -> QueueClient<'_> {
        QueueClient::new(self, self.client().await)
    }

    /// As `vanish`, for a client of the queue.
    pub(crate) async fn vanish_from_queue(&self, client: QueueClient<'_>) {
        self.vanish(client.into_client()).await;
    }

    /// As `pass`, at a queue.
    pub(crate) async fn pass_at_queue(&self, time: Duration, witness: &QueueClient<'_>) {
        for _ in 0..time.as_secs() {
            self.advance(Duration::from_secs(1));
            witness.settle().await;
        }
    }
}

impl<'a> QueueClient<'a> {
    pub(crate) fn new(stage: &'a CaseStage, client: InboxClient) -> Self {
        Self { stage, client, last: AtomicU64::new(0) }
    }

    pub(crate) fn into_client(self) -> InboxClient {
        self.client
    }

    pub(crate) fn inbox(&self) -> Inbox {
        self.client.inbox()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.client.store()
    }

    /// A batch that this client has not sent before.
    pub(crate) fn batch(&self, requests: Vec<Request>) -> Batch {
        Batch {
            name: self.stage.name().clone(),
            session: self.inbox(),
            number: 1 + self.last.fetch_add(1, Ordering::Relaxed),
            not_after: self.stage.now() + micros(TTL),
            seen: 0,
            requests,
        }
    }

    pub(crate) async fn call(&self, batch: &Batch) -> Replies {
        let called = timeout(BOUND, self.store().call_queue(batch)).await.expect("no answer");
        called.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) async fn send(&self, requests: Vec<Request>) -> Replies {
        self.call(&self.batch(requests)).await
    }

    pub(crate) async fn one(&self, request: Request) -> Reply {
        self.send(vec![request]).await.replies.pop().expect("one reply a request")
    }

    /// Sends the same batch twice, as if the reply to the first had been lost.
    pub(crate) async fn twice(&self, request: Request) -> [Reply; 2] {
        let batch = self.batch(vec![request]);
        let first = self.call(&batch).await.replies.remove(0);
        [first, self.call(&batch).await.replies.remove(0)]
    }

    async fn read(&self, requests: Vec<Request>) -> Replies {
        self.call(&Batch { number: 0, ..self.batch(requests) }).await
    }

    /// Has the store do due work until none is left.
    pub(crate) async fn settle(&self) {
        while self.read(vec![]).await.backlog {}
    }

    /// Pushes an item that the store must accept.
    pub(crate) async fn push(&self, push: Push) -> ItemId {
        match self.one(Request::Push(push)).await {
            Reply::Pushed { id } => id,
            other => panic!("not pushed: {other:?}"),
        }
    }

    /// Pushes an item for each text, in as many batches as that takes.
    pub(crate) async fn push_all<T: AsRef<str>>(&self, texts: &[T]) -> Vec<ItemId> {
        let mut ids = Vec::with_capacity(texts.len());
        for some in texts.chunks(Batch::MOST) {
            let requests = some.iter().map(|text| Request::Push(item(text.as_ref()))).collect();
            ids.extend(self.send(requests).await.replies.iter().map(pushed));
        }
        ids
    }

    pub(crate) async fn pop_as(&self, pop: Pop) -> Vec<Popped> {
        popped(self.one(Request::Pop(pop)).await)
    }

    pub(crate) async fn pop(&self, items: u32) -> Vec<Popped> {
        self.pop_as(pop(items)).await
    }

    /// Pops an item, which must be there.
    pub(crate) async fn take(&self) -> Popped {
        self.pop(1).await.pop().expect("an item to work on")
    }

    /// Pops items, and returns their payloads.
    pub(crate) async fn texts(&self, items: u32) -> Vec<String> {
        self.pop(items).await.into_iter().map(text).collect()
    }

    /// Stands in line. Nothing may be there to pop.
    pub(crate) async fn wait_for(&self, items: u32) {
        assert_eq!(self.pop_as(waiting(items)).await, []);
    }

    pub(crate) async fn finish(&self, delivery: Delivery, how: How) -> Reply {
        self.one(finish(delivery, how)).await
    }

    /// Acknowledges an item, which must be in work.
    pub(crate) async fn acknowledge(&self, delivery: Delivery) {
        let reply = self.one(acknowledge(delivery)).await;
        assert_eq!(reply, Reply::Acknowledged { id: delivery.id });
    }

    pub(crate) async fn look(&self) -> Snapshot {
        self.look_at(1_000).await
    }

    pub(crate) async fn look_at(&self, rows: u32) -> Snapshot {
        match self.read(vec![Request::Inspect { rows }]).await.replies.pop() {
            Some(Reply::Snapshot(snapshot)) => snapshot,
            other => panic!("not a snapshot: {other:?}"),
        }
    }

    /// The numbers of items that are ready, delayed, in work and dead.
    pub(crate) async fn counts(&self) -> [u32; 4] {
        let seen = self.look_at(0).await;
        [seen.ready, seen.delayed, seen.in_work, seen.dead]
    }

    /// The dead letters.
    pub(crate) async fn dead(&self) -> Vec<ItemRow> {
        self.list(ItemState::Dead, 9).await.concat()
    }

    /// All items of a state, in pages of so many rows at most.
    pub(crate) async fn list(&self, state: ItemState, rows: u32) -> Vec<Vec<ItemRow>> {
        let (mut pages, mut next) = (Vec::new(), Some(ItemPosition::before(state)));
        while let Some(after) = next {
            let (page, behind) = self.page(after, rows).await;
            assert!(page.len() <= rows as usize, "{} rows, and not {rows}", page.len());
            pages.push(page);
            next = behind;
        }
        pages
    }

    pub(crate) async fn page(
        &self,
        after: ItemPosition,
        rows: u32,
    ) -> (Vec<ItemRow>, Option<ItemPosition>) {
        match self.read(vec![Request::List { after, rows }]).await.replies.pop() {
            Some(Reply::Items { rows, next }) => (rows, next),
            other => panic!("no items: {other:?}"),
        }
    }

    /// The next news of this client about its queue.
    pub(crate) async fn told(&mut self) -> What {
        loop {
            if let News::Queue(wakeup) = self.client.next_news().await {
                let about = (wakeup.inbox, &wakeup.name);
                assert_eq!(about, (self.client.inbox(), self.stage.name()));
                return wakeup.what;
            }
        }
    }

    /// The next news that is not about watching.
    async fn told_more_than_to_watch(&mut self) -> What {
        loop {
            match self.told().await {
                What::Watch { .. } => {}
                what => return what,
            }
        }
    }

    /// Waits for the next news, which must be a call to work.
    pub(crate) async fn told_to_come(&mut self) {
        assert_eq!(self.told_more_than_to_watch().await, What::Called);
    }

    /// Waits for the next news, which must be that this delivery is over.
    pub(crate) async fn told_of_loss(&mut self, delivery: Delivery) {
        assert_eq!(self.told_more_than_to_watch().await, What::Lost(delivery));
    }

    /// The news so far that nobody has looked at, without those about watching. The client loses
    /// its place in line by it. No other worker is disturbed: an item passes through the client's
    /// hands and is cancelled, and all earlier news come before its news.
    pub(crate) async fn heard(&mut self) -> Vec<What> {
        let marked = vec![Request::Push(ranked("marker", 100)), Request::Pop(pop(1))];
        let marker = popped(self.send(marked).await.replies.remove(1)).remove(0);
        assert_eq!(marker.payload, b"marker");
        self.one(Request::Cancel { id: marker.delivery.id, spares_work: false }).await;
        let mut heard = Vec::new();
        loop {
            match self.told_more_than_to_watch().await {
                What::Lost(delivery) if delivery == marker.delivery => return heard,
                what => heard.push(what),
            }
        }
    }
}

pub(crate) fn text(popped: Popped) -> String {
    String::from_utf8(popped.payload).expect("the text of an item")
}

pub(crate) fn popped(reply: Reply) -> Vec<Popped> {
    match reply {
        Reply::Popped { items, .. } => items,
        other => panic!("not popped: {other:?}"),
    }
}

fn pushed(reply: &Reply) -> ItemId {
    match reply {
        Reply::Pushed { id } => *id,
        other => panic!("not pushed: {other:?}"),
    }
}
