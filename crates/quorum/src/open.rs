//! Connects to the nodes, and starts the tasks that run as long as a client is connected.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, Weak, atomic::AtomicU64},
    time::Duration,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use seinpaal_proto::{
    Fence, Inbox, Name, Wakeup, What,
    time::{Micros, micros},
};
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep_until, timeout},
};

use super::{
    FenceClock, Quorum, QuorumStore,
    answer::{GuardWord, NodeAnswer},
    gather::Gathering,
    misconfigured,
    node::{Envelope, QuorumNode},
    table::TicketTable,
};
use seinpaal_store::boottime;
use seinpaal_store::{
    Certainty, News, NewsSender, Reading, StoreError, StoreErrorKind, url::QuorumUrl,
};

/// How long each further node may take to connect, once a majority is connected.
const GRACE: Duration = Duration::from_millis(300);
/// How many tickets of a name are asked for in one call at most.
const MOST_POLLED: usize = 16;

impl QuorumStore {
    /// As [`open`](Self::open), with `now` in place of every node's clock, in microseconds. Tests
    /// use it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[doc(hidden)]
    pub async fn open_with_clock(
        url: QuorumUrl,
        inbox: Inbox,
        news: NewsSender,
        now: Option<Arc<AtomicU64>>,
    ) -> Result<Arc<Self>, StoreError> {
        // Each node has a channel of its own, so that news tells which node it came from.
        let channels = url.nodes.iter().map(|_| mpsc::unbounded_channel());
        let (senders, inbounds): (Vec<_>, Vec<_>) = channels.unzip();
        let quorum = Arc::new(Quorum::begin(url, inbox, news, now, senders)?);
        quorum.connect().await?;
        let first_reading = quorum.begin_guard().await?;
        let hearing = inbounds.into_iter().enumerate().map(|(node, inbound)| {
            tokio::spawn(hear(Arc::downgrade(&quorum), node, inbound)).abort_handle()
        });
        let mut tasks: Vec<_> = hearing.collect();
        tasks.push(tokio::spawn(ask_again(Arc::downgrade(&quorum))).abort_handle());
        Ok(Arc::new(Self { quorum, first_reading, tasks }))
    }
}

impl Quorum {
    fn begin(
        url: QuorumUrl,
        inbox: Inbox,
        news: NewsSender,
        now: Option<Arc<AtomicU64>>,
        senders: Vec<NewsSender>,
    ) -> Result<Self, StoreError> {
        if url.options.replicated.is_some() {
            return Err(misconfigured(
                "the nodes of a quorum have no replicas: leave out replicated",
            ));
        }
        let guard = url.options.restart_guard;
        // The node script has a guard of its own, so its connections need none.
        let mut options = url.options;
        options.restart_guard = None;
        let nodes = url.nodes.into_iter().zip(senders).map(|(mut node, sender)| {
            node.options = options.clone();
            QuorumNode::begin(node, inbox, sender).map(Arc::new)
        });
        Ok(Self {
            nodes: nodes.collect::<Result<_, _>>()?,
            inbox,
            news,
            guard: guard.map_or(0, |guard| micros(guard.length())),
            now,
            clock: Mutex::new(FenceClock::default()),
            table: Mutex::new(TicketTable::default()),
            desks: Mutex::new(HashMap::new()),
            hint: Notify::new(),
            dice: AtomicU64::new(inbox.0 as u64 ^ (inbox.0 >> 64) as u64),
        })
    }

    /// Waits for a majority of the nodes, and a little longer for the other nodes.
    async fn connect(&self) -> Result<(), StoreError> {
        let first = |node: &Arc<QuorumNode>| {
            let node = Arc::clone(node);
            async move { node.server.first_try().await }
        };
        let mut tries: FuturesUnordered<_> = self.nodes.iter().map(first).collect();
        let (mut up, mut errors) = (0, Vec::new());
        loop {
            let next = if up >= self.majority() {
                timeout(GRACE, tries.next()).await.ok().flatten()
            } else {
                tries.next().await
            };
            match next {
                Some(Ok(())) => up += 1,
                Some(Err(error)) => errors.push(error),
                None => break,
            }
        }
        if up >= self.majority() { Ok(()) } else { Err(self.too_few(up, &errors)) }
    }

    fn too_few(&self, up: usize, errors: &[StoreError]) -> StoreError {
        let worst = errors.iter().find(|error| !error.is_passing()).or_else(|| errors.first());
        let kind = worst.map_or(StoreErrorKind::Unreachable, StoreError::kind);
        let why = worst.map(ToString::to_string).unwrap_or_default();
        let (all, majority) = (self.nodes.len(), self.majority());
        let message = format!("{up} of {all} nodes can be used, and {majority} are needed: {why}");
        StoreError::new(kind, Certainty::NotExecuted, message)
    }

    /// Looks at every node's marker, and begins the guard where it is missing. If no node has a
    /// marker, all of them are new to the store, and the guard of each counts from the start of its
    /// server. Returns the latest of the nodes' clocks.
    async fn begin_guard(&self) -> Result<Reading, StoreError> {
        // The first call only looks, because only all nodes together show whether they are new.
        let seen = self.mark("look").await?;
        let is_new = seen.iter().flatten().filter(|a| a.guard.word == GuardWord::None).count();
        let how = if is_new == self.nodes.len() { "new" } else { "go" };
        // This instant is taken before the call, because the reading has to be younger than it.
        let asked_at = boottime::now();
        let begun = self.mark(how).await?;
        let guarded = |answer: &&NodeAnswer| answer.guard.left > 0;
        let left: Vec<_> = begun.iter().flatten().filter(guarded).map(|a| a.guard.left).collect();
        if let Some(longest) = left.iter().max() {
            let (nodes, left) = (left.len(), Duration::from_micros(*longest));
            tracing::warn!(
                target: crate::TARGET,
                nodes,
                ?left,
                "nodes of the quorum are new or lost their memory, and abstain"
            );
        }
        match begun.iter().flatten().find(|a| a.guard.word == GuardWord::Differs) {
            Some(answer) => Err(self.other_guard(answer.guard.stored)),
            None => Ok(Reading { shows: latest(&begun), asked_at }),
        }
    }

    async fn mark(&self, how: &str) -> Result<Vec<Option<NodeAnswer>>, StoreError> {
        // Every call names some name. This call has no request about the name, so nothing is stored
        // under it.
        let name = Name::new("marker").map_err(|_| misconfigured("no name"))?;
        let guard = format!("{} {how}", self.guard);
        let envelope = Envelope { name, inbox: None, fence_seen: 0, now: self.test_now(), guard };
        let mut gathering = Gathering::send(&self.nodes, &envelope, &[]);
        gathering.wait(|_| false, Duration::MAX).await;
        self.learn(&gathering);
        gathering.refuse_twins()?;
        gathering.majority()?;
        Ok(gathering.answers().map(Option::<&NodeAnswer>::cloned).collect())
    }

    pub(super) fn other_guard(&self, stored: u64) -> StoreError {
        let say = |guard| match guard {
            0 => "off".to_owned(),
            guard => format!("{:?}", Duration::from_micros(guard)),
        };
        let (stored, stated) = (say(stored), say(self.guard));
        misconfigured(&format!(
            "the quorum was set up with restart-guard={stored}, not {stated}: all clients state the same \
             (to change it see docs/internals/stores/quorum.md)"
        ))
    }

    /// Takes news that a node sent without being asked.
    fn hear(&self, node: usize, news: News) {
        match news {
            News::LookAgain => {
                self.table().hurry_all();
                self.hint.notify_one();
                let _ = self.news.send(News::LookAgain);
            }
            // A node grants nothing by itself. The fence 0 means that the ticket's turn may have
            // come.
            News::Wakeup(Wakeup {
                name,
                ticket,
                what: What::Granted { fence: Fence(0), .. },
                ..
            }) => {
                self.table().hurry(&name, ticket);
                self.hint.notify_one();
            }
            // A quorum keeps no queues.
            News::Queue(_) => {}
            News::Wakeup(wakeup) => {
                let majority = self.majority();
                if self.table().ends(&wakeup.name, wakeup.ticket, node, majority) {
                    self.table().forget(&wakeup.name, wakeup.ticket);
                    let _ = self.news.send(News::Wakeup(wakeup));
                }
            }
        }
    }

    /// The names that any node has. Waits until a majority of the nodes has listed its names.
    pub(super) async fn names(&self, prefix: &str) -> Result<BTreeSet<Name>, StoreError> {
        let mut scans: FuturesUnordered<_> = self
            .nodes
            .iter()
            .filter(|node| node.server.is_up())
            .map(|node| node.server.names(prefix))
            .collect();
        let (mut names, mut answered, mut failed) = (BTreeSet::new(), 0, None);
        while let Some(scanned) = scans.next().await {
            match scanned {
                Ok(some) => {
                    names.extend(some);
                    answered += 1;
                }
                Err(error) => failed = Some(error),
            }
        }
        if answered >= self.majority() {
            return Ok(names);
        }
        Err(failed.unwrap_or_else(|| self.too_few(answered, &[])))
    }
}

/// The latest of the nodes' clocks, which replies also give. A deadline by this clock has passed at
/// no node too early.
fn latest(answers: &[Option<NodeAnswer>]) -> Micros {
    answers.iter().flatten().map(|answer| answer.now).max().unwrap_or(0)
}

async fn hear(quorum: Weak<Quorum>, node: usize, mut inbound: mpsc::UnboundedReceiver<News>) {
    while let Some(news) = inbound.recv().await {
        let Some(quorum) = quorum.upgrade() else { return };
        quorum.hear(node, news);
    }
}

/// Asks again for the tickets that wait: when a hint comes, and from time to time.
async fn ask_again(quorum: Weak<Quorum>) {
    loop {
        let Some(alive) = quorum.upgrade() else { return };
        let due = alive.table().due(MOST_POLLED);
        if let Some((name, tickets)) = due {
            alive.poll(&name, tickets).await;
            continue;
        }
        let next = alive.table().next_due();
        let hint = alive.hint.notified();
        match next {
            Some(at) => tokio::select! {
                () = hint => {}
                () = sleep_until(at.max(Instant::now())) => {}
            },
            None => hint.await,
        }
    }
}
