//! The client of the cases.

use std::{sync::Arc, time::Duration};

use seinpaal::store::{News, Store, StoreError, StoreErrorKind};
use seinpaal_proto::{
    Acquire, Batch, Grant, Inbox, Name, Replies, Reply, Request, Snapshot, Ticket, What,
};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{CaseStage, requests::release, stage::random};

/// How long a case waits for what must happen. No verdict depends on this time.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns whether a session would send the same tickets again. A repeated ticket counts once.
fn is_worth_another_try(error: &StoreError) -> bool {
    error.kind() == StoreErrorKind::Unreachable
}

/// One inbox, the store that was opened for it, and the news that it hears.
#[derive(Debug)]
pub struct InboxClient {
    inbox: Inbox,
    store: Arc<dyn Store>,
    news: mpsc::UnboundedReceiver<News>,
    name: Name,
}

impl CaseStage {
    /// A client that listens.
    pub(crate) async fn client(&self) -> InboxClient {
        let inbox = Inbox(random());
        InboxClient::open(self, inbox).await
    }

    /// A client that listens, at a name whose limit is set.
    pub(crate) async fn limited(&self, limit: u32) -> InboxClient {
        let client = self.client().await;
        client.one(crate::requests::limit(limit)).await;
        client
    }

    /// Lets the client die without telling the store.
    pub(crate) async fn vanish(&self, client: InboxClient) {
        let (inbox, store) = client.into_parts();
        self.harness().vanish(inbox, store).await;
    }

    /// Lets time pass second by second while a client looks, as happens where there are clients.
    pub(crate) async fn pass(&self, time: Duration, witness: &InboxClient) {
        for _ in 0..time.as_secs() {
            self.advance(Duration::from_secs(1));
            witness.settle().await;
        }
    }
}

impl InboxClient {
    pub(crate) async fn open(stage: &CaseStage, inbox: Inbox) -> Self {
        let (sender, news) = mpsc::unbounded_channel();
        let store = stage.harness().open(inbox, sender).await;
        Self { inbox, store, news, name: stage.name().clone() }
    }

    pub(crate) fn into_parts(self) -> (Inbox, Arc<dyn Store>) {
        (self.inbox, self.store)
    }

    pub(crate) fn inbox(&self) -> Inbox {
        self.inbox
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) fn batch(&self, requests: Vec<Request>) -> Batch {
        let (name, inbox) = (self.name.clone(), Some(self.inbox));
        Batch { name, inbox, fence_seen: 0, requests }
    }

    /// Calls the store. A busy server may not answer in time, and is asked again.
    pub(crate) async fn call(&self, batch: &Batch) -> Replies {
        let answered = async {
            loop {
                match self.store.call(batch).await {
                    Ok(replies) => return replies,
                    Err(error) if is_worth_another_try(&error) => sleep(PAUSE).await,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        timeout(BOUND, answered).await.expect("no answer")
    }

    pub(crate) async fn send(&self, requests: Vec<Request>) -> Replies {
        self.call(&self.batch(requests)).await
    }

    pub(crate) async fn one(&self, request: Request) -> Reply {
        self.send(vec![request]).await.replies.pop().expect("one reply a request")
    }

    /// Sends a request from an inbox that nobody listens at. A lease of such a sender runs out on
    /// every store.
    pub(crate) async fn anonymously(&self, request: Request) -> Reply {
        let batch = Batch { inbox: None, ..self.batch(vec![request]) };
        self.call(&batch).await.replies.pop().expect("one reply a request")
    }

    /// Has the store do due work until none is left.
    pub(crate) async fn settle(&self) {
        while self.call(&Batch { inbox: None, ..self.batch(vec![]) }).await.backlog {}
    }

    pub(crate) async fn acquire(&self, want: &Acquire) -> Reply {
        self.one(Request::Acquire(want.clone())).await
    }

    /// Acquires permits that must be granted at once.
    pub(crate) async fn take(&self, want: &Acquire) -> Grant {
        granted(self.acquire(want).await)
    }

    /// As [`InboxClient::take`], from an inbox that nobody listens at.
    pub(crate) async fn take_anonymously(&self, want: &Acquire) -> Grant {
        granted(self.anonymously(Request::Acquire(want.clone())).await)
    }

    /// Asks for permits that must be waited for.
    pub(crate) async fn queue(&self, want: &Acquire) {
        let reply = self.acquire(want).await;
        assert!(matches!(reply, Reply::Queued { .. }), "not queued: {reply:?}");
    }

    /// Releases a ticket that must be held.
    pub(crate) async fn release(&self, ticket: Ticket) {
        assert_eq!(self.one(release(ticket)).await, Reply::Released { ticket, left: 0 });
    }

    /// The next news of this client.
    pub(crate) async fn next_news(&mut self) -> News {
        let news = timeout(BOUND, self.news.recv()).await.expect("nothing was heard");
        news.expect("the store keeps its sender")
    }

    /// News of this client that nobody has looked at yet.
    pub(crate) fn try_news(&mut self) -> Option<News> {
        self.news.try_recv().ok()
    }

    /// The next news of this client about a ticket.
    pub(crate) async fn told(&mut self) -> (Ticket, What) {
        loop {
            match self.next_news().await {
                News::Wakeup(wakeup) => {
                    assert_eq!((wakeup.inbox, &wakeup.name), (self.inbox, &self.name));
                    return (wakeup.ticket, wakeup.what);
                }
                News::LookAgain | News::Queue(_) => {}
            }
        }
    }

    /// Waits for the next news, which must be that this ticket was granted.
    pub(crate) async fn told_of_grant(&mut self, ticket: Ticket) {
        let (told, what) = self.told().await;
        assert!(told == ticket && matches!(what, What::Granted { .. }), "{told}: {what:?}");
    }

    /// Waits until the store says to look again.
    pub(crate) async fn told_to_look_again(&mut self) {
        let news = async { while self.news.recv().await != Some(News::LookAgain) {} };
        timeout(BOUND, news).await.expect("nothing was heard");
    }

    pub(crate) async fn snapshot(&self) -> Snapshot {
        match self.anonymously(Request::Inspect { rows: 100_000 }).await {
            Reply::Snapshot(snapshot) => snapshot,
            other => panic!("not a snapshot: {other:?}"),
        }
    }

    pub(crate) async fn holders(&self) -> Vec<Ticket> {
        self.snapshot().await.holders.iter().map(|row| row.ticket).collect()
    }

    /// The waiters in the order of service, with those that are passed over at the end.
    pub(crate) async fn waiters(&self) -> Vec<Ticket> {
        self.snapshot().await.waiters.iter().map(|row| row.ticket).collect()
    }
}

pub(crate) fn granted(reply: Reply) -> Grant {
    match reply {
        Reply::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}
