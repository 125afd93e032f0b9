//! One node: a connection for commands and one for wakeups. Each is opened when it is first needed,
//! and dropped when it is lost.
//!
//! There are two because a server ends a subscription unasked when a hash slot moves, and the
//! client library takes that message for the answer to the oldest request under way. On the
//! connection for wakeups each answer is checked for its channel: see `listen`.

mod links;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use redis::{Cmd, PushKind, ServerError, Value};
use tokio::sync::Mutex;

use super::{
    call::{NodeTask, ScriptCall},
    failures::SharedFailures,
    hash_slots::NodeAddress,
};
use crate::{
    connection::is_missing_script,
    error,
    link::LastHeard,
    replicas::{self, Replicas},
    script::Scripts,
    transport::{CommandAnswer, Commands},
};
use seinpaal_store::{Certainty, Reading, StoreError, StoreErrorKind, url::RedisUrl};

/// The outcome of a task.
pub(super) enum TaskEnd {
    Done(AnswerFrom),
    /// Not executed: another node owns the hash slot.
    Moved(NodeAddress),
    /// Not executed: another node has the keys, for now.
    Ask(NodeAddress),
    /// Not executed. A later try, or another node, may succeed.
    Later(StoreError),
    /// Refused for good, or executed with an error.
    Refused(StoreError),
    /// Handed over and never answered, so it may have been executed.
    Lost(StoreError),
}

/// An answer, and the link that it came over.
pub(super) struct AnswerFrom {
    pub(super) answer: Value,
    /// Where a script was executed.
    pub(super) at: Option<(Arc<ClusterNode>, NodeLink)>,
}

/// Messages that no request asked for, in the order in which they come.
pub(super) enum NodeNews<'a> {
    Message(&'a [u8]),
    Listens(&'a [u8]),
    ListensNoMore(&'a [u8]),
    /// The link did not answer in time. Messages that still come over it are passed on.
    Late,
    /// The link was closed from here. No more messages come over it.
    Closed,
    Lost,
}

/// A callback that receives the link's number and the news that came over it.
pub(super) type OnHeard = Arc<dyn Fn(u64, NodeNews<'_>) + Send + Sync>;

/// One node of the cluster.
pub(super) struct ClusterNode {
    address: NodeAddress,
    url: RedisUrl,
    scripts: Arc<Scripts>,
    on_heard: OnHeard,
    commands: LinkPlace,
    wakeups: LinkPlace,
    /// Links that were late. Each stays open until another link hears its channels. As long as a
    /// link is subscribed, the server counts its client as present.
    former_wakeups: std::sync::Mutex<Vec<NodeLink>>,
    /// How often a link for commands was opened since the node last answered a script.
    tries: AtomicU64,
}

/// The place of a link. A caller that opens one holds the lock meanwhile.
#[derive(Default)]
struct LinkPlace {
    link: Mutex<Option<NodeLink>>,
    failures: SharedFailures,
}

#[derive(Clone)]
pub(super) struct NodeLink {
    id: u64,
    pub(super) connection: Commands,
    /// The node's clock when the link was opened.
    pub(super) reading: Reading,
    heard: Arc<LastHeard>,
    replicas: Arc<Replicas>,
}

/// Numbers the links of all nodes, so that no link is taken for another.
static LINKS: AtomicU64 = AtomicU64::new(0);

impl ClusterNode {
    pub(super) fn new(
        address: NodeAddress,
        url: RedisUrl,
        scripts: Arc<Scripts>,
        on_heard: OnHeard,
    ) -> Self {
        Self {
            address,
            url,
            scripts,
            on_heard,
            commands: LinkPlace::default(),
            wakeups: LinkPlace::default(),
            former_wakeups: std::sync::Mutex::default(),
            tries: AtomicU64::new(0),
        }
    }

    pub(super) async fn run(self: &Arc<Self>, task: &NodeTask<'_>, asking: bool) -> TaskEnd {
        match task {
            NodeTask::Evaluate(call) => self.evaluate(call, asking).await,
            NodeTask::Listen(channel) => self.listen(channel).await,
        }
    }

    pub(super) fn address(&self) -> &NodeAddress {
        &self.address
    }

    pub(super) fn url(&self) -> &RedisUrl {
        &self.url
    }

    /// Runs one plain command.
    pub(super) async fn command(&self, command: &Cmd, room: usize) -> Result<Value, StoreError> {
        let mut link = self.command_link().await?;
        let answer = link.connection.send_for(command, room).await;
        self.judge(link.id, answer).await.map_err(|outcome| match outcome {
            TaskEnd::Later(error) | TaskEnd::Refused(error) | TaskEnd::Lost(error) => error,
            TaskEnd::Done(_) | TaskEnd::Moved(_) | TaskEnd::Ask(_) => {
                self.later("is not the right node")
            }
        })
    }

    /// Runs a script. It is sent a second time only if the node did not know the script, because
    /// then nothing was executed.
    async fn evaluate(self: &Arc<Self>, call: &ScriptCall, asking: bool) -> TaskEnd {
        let mut link = match self.command_link().await {
            Ok(link) => link,
            Err(error) => return unsent(error),
        };
        // The hash slot is on its way to this node, which does not know yet who listens there.
        let moving = asking.then(|| call.to_the_next_node());
        let call = moving.as_ref().unwrap_or(call);
        let mut answer = link.send(call.evalsha(&self.scripts), call.room, asking).await;
        if is_missing_script(&answer) {
            answer = link.send(call.eval(&self.scripts), call.room, asking).await;
        }
        if answer.is_ok() {
            self.tries.store(0, Ordering::Relaxed);
            link.heard.note();
        }
        match self.judge(link.id, answer).await {
            Ok(answer) => TaskEnd::Done(AnswerFrom { answer, at: Some((self.clone(), link)) }),
            Err(outcome) => outcome,
        }
    }

    /// Returns how many replicas have everything that this link has written until now. Waits a
    /// while for as many as the URL asks for.
    pub(super) async fn replicas_of(
        &self,
        mut link: NodeLink,
        wanted: u32,
    ) -> Result<u32, StoreError> {
        match link.replicas.confirm(&mut link.connection, wanted).await {
            Ok(count) => Ok(count),
            Err(failed) => {
                self.lose_commands(link.id).await;
                Err(replicas::not_confirmed(&failed, &self.url.to_string()))
            }
        }
    }

    /// Subscribes. `NodeNews::Listens` reports success, in order with the message that may end the
    /// subscription again.
    async fn listen(&self, channel: &str) -> TaskEnd {
        let mut link = match self.wakeup_link().await {
            Ok(link) => link,
            Err(error) => return unsent(error),
        };
        let mut subscribe = redis::cmd("SSUBSCRIBE");
        subscribe.arg(channel);
        match link.connection.send(&subscribe).await {
            Ok(Value::Push { kind: PushKind::SSubscribe, data }) if is_about(&data, channel) => {
                TaskEnd::Done(AnswerFrom { answer: Value::Nil, at: None })
            }
            Ok(Value::ServerError(refused)) => self.refusal(&refused),
            // The answers are out of step, or there are none. So only a new link can be believed.
            _ => {
                self.lose_wakeups(link.id).await;
                TaskEnd::Later(self.later("closed the connection"))
            }
        }
    }

    /// Asks the link for wakeups whether it is there, because a half-open one says nothing by
    /// itself.
    pub(super) async fn try_wakeups(&self) {
        let link = self.wakeups.link.lock().await.clone();
        if let Some(mut link) = link
            && link.connection.send(&redis::cmd("PING")).await.is_err()
        {
            self.lose_wakeups(link.id).await;
        }
    }

    async fn judge(&self, link: u64, answer: CommandAnswer<Value>) -> Result<Value, TaskEnd> {
        match answer {
            Ok(Value::ServerError(refused)) => Err(self.refusal(&refused)),
            Ok(value) => Ok(value),
            Err(failed) => {
                self.lose_commands(link).await;
                Err(TaskEnd::Lost(error::of_call(&failed, &self.url.to_string())))
            }
        }
    }

    fn refusal(&self, refused: &ServerError) -> TaskEnd {
        let to = refused.details().and_then(|details| details.split_once(' '));
        let to = to.and_then(|(_hash_slot, to)| NodeAddress::parse(to, &self.address));
        match (refused.code(), to) {
            ("MOVED", Some(to)) => TaskEnd::Moved(to),
            ("ASK", Some(to)) => TaskEnd::Ask(to),
            // After MOVED the next map tells the address, or another node's map does. After ASK no
            // map tells it until the hash slot has moved.
            ("MOVED" | "ASK", None) => {
                TaskEnd::Later(self.later("sends this request to a node whose address it lacks"))
            }
            // A master that was demoted says READONLY, and the next map names its successor.
            ("TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY", _) => {
                TaskEnd::Later(error::of_server(refused))
            }
            _ => TaskEnd::Refused(error::of_server(refused)),
        }
    }

    fn later(&self, what: &str) -> StoreError {
        let message = format!("{} {what}: try again later", self.url);
        StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message)
    }
}

impl fmt::Debug for ClusterNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterNode").field("address", &self.address).finish_non_exhaustive()
    }
}

fn unsent(error: StoreError) -> TaskEnd {
    if error.is_passing() { TaskEnd::Later(error) } else { TaskEnd::Refused(error) }
}

fn is_about(data: &[Value], channel: &str) -> bool {
    matches!(data.first(), Some(Value::BulkString(about)) if about == channel.as_bytes())
}
