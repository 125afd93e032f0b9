//! How a request finds the node that owns its hash slot while hash slots and nodes may move.

use std::{sync::atomic::Ordering, time::Duration};

use seinpaal_store::{Certainty, StoreError, StoreErrorKind};
use tokio::time::{Instant, sleep};

use super::{
    ClusterLinks,
    call::NodeTask,
    hash_slots::NodeAddress,
    node::{AnswerFrom, TaskEnd},
};
use crate::{connection::pause_after, link::RESPONSE_TIMEOUT};

/// The longest pause between two tries of one request.
const LONGEST_PAUSE: Duration = Duration::from_millis(160);
/// Nodes may contradict each other while a hash slot changes hands. After this many redirections the
/// request waits a moment.
const MOST_HOPS: u32 = 8;

impl ClusterLinks {
    /// Sends a task to the owner of the hash slot, until it was executed or refused. The first
    /// try that fails after the time for an answer is the last. So the call may take longer than
    /// that, because a try may read a map, open a connection, and wait for an answer.
    pub(super) async fn route(
        &self,
        hash_slot: u16,
        task: &NodeTask<'_>,
    ) -> Result<AnswerFrom, StoreError> {
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        let (mut hop, mut hops, mut pauses) = (None, 0, 0);
        loop {
            let outcome = match &hop {
                Some(asked) => self.node(asked).run(task, true).await,
                None => self.run_at_owner(hash_slot, task).await,
            };
            let error = match self.react(hash_slot, outcome) {
                Reaction::Return(result) => return result,
                Reaction::Hop(to) if hops < MOST_HOPS => {
                    (hop, hops) = (to, hops + 1);
                    continue;
                }
                Reaction::Hop(_) => {
                    self.trouble("has nodes that send this request round and round")
                }
                Reaction::Wait(error) => error,
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            (hop, hops, pauses) = (None, 0, pauses + 1);
            sleep(pause_after(pauses, LONGEST_PAUSE)).await;
        }
    }

    async fn run_at_owner(&self, hash_slot: u16, task: &NodeTask<'_>) -> TaskEnd {
        match self.owner(hash_slot).await {
            Ok(owner) => self.node(&owner).run(task, false).await,
            Err(error) => TaskEnd::Later(error),
        }
    }

    pub(super) async fn owner(&self, hash_slot: u16) -> Result<NodeAddress, StoreError> {
        let looks = self.looks.load(Ordering::Relaxed);
        if self.is_doubtful.load(Ordering::Relaxed) {
            // Without a newer map the one that we have must do.
            let _ = self.look(looks).await;
        }
        let owner = self.map().owner(hash_slot).cloned();
        owner.ok_or_else(|| {
            self.is_doubtful.store(true, Ordering::Relaxed);
            self.trouble("has no node that owns the hash slot of this name")
        })
    }

    pub(super) fn trouble(&self, what: &str) -> StoreError {
        let message = format!("{} {what}: look at CLUSTER INFO, or try again later", self.url);
        StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message)
    }
}

/// The reaction to an outcome.
enum Reaction {
    Return(Result<AnswerFrom, StoreError>),
    /// Go on at once, at the owner (`None`) or for once at this node.
    Hop(Option<NodeAddress>),
    Wait(StoreError),
}

impl ClusterLinks {
    fn react(&self, hash_slot: u16, outcome: TaskEnd) -> Reaction {
        match outcome {
            TaskEnd::Done(done) => Reaction::Return(Ok(done)),
            TaskEnd::Refused(error) => Reaction::Return(Err(error)),
            TaskEnd::Lost(error) => {
                self.is_doubtful.store(true, Ordering::Relaxed);
                Reaction::Return(Err(error))
            }
            TaskEnd::Ask(to) => Reaction::Hop(Some(to)),
            TaskEnd::Moved(to) => {
                self.map().correct(hash_slot, to);
                // What was heard at the old owner of the hash slot has to be heard at the new one.
                self.hurry.notify_one();
                Reaction::Hop(None)
            }
            TaskEnd::Later(error) => {
                self.is_doubtful.store(true, Ordering::Relaxed);
                Reaction::Wait(error)
            }
        }
    }
}
