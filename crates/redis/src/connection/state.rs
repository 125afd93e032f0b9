//! The link of a connection, and the events that open, doubt and close it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{ServerError, Value};
use seinpaal_store::{StoreError, url::RedisAddress};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

use super::status::{Last, LinkOutage, Status};
use crate::{
    endpoint::RedisEndpoint,
    error,
    link::{ConnectOptions, Link, OnLoss, RESPONSE_TIMEOUT},
    sentinel::SentinelListeners,
    transport::{CallError, CommandAnswer},
};

/// The state that the connection, its keeper and its links share.
pub(super) struct ConnectionState {
    pub(super) options: Arc<ConnectOptions>,
    pub(super) status: watch::Sender<Status>,
    /// Changes whenever the sentinels say that the server has moved.
    pub(super) moves: watch::Sender<()>,
    /// Rung when a caller needs a link that is not there, so that the next try comes sooner.
    pub(super) hurry: Notify,
    /// A ticket waits for a wakeup, so a silent link is tried.
    pub(super) is_awaited: AtomicBool,
    /// Whether the status may be `Doubted`. Answers check this first, which is cheaper than to look
    /// at the status.
    pub(super) is_doubted: AtomicBool,
    /// Whether there were as many replicas as the URL asks for at any time so far.
    pub(super) had_replicas: AtomicBool,
    /// How many links were begun. The number of each is its id.
    pub(super) opened: AtomicU64,
    /// How often a link was tried since a script was last answered. A link that answers no script
    /// does not count as a success.
    pub(super) tries: AtomicU64,
}

impl ConnectionState {
    pub(super) fn new(options: ConnectOptions) -> Self {
        let outage = LinkOutage::lost(&options.shown());
        Self {
            options: Arc::new(options),
            status: watch::Sender::new(Status::Down(outage, None)),
            moves: watch::Sender::default(),
            hurry: Notify::new(),
            is_awaited: AtomicBool::new(false),
            is_doubted: AtomicBool::new(false),
            had_replicas: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            tries: AtomicU64::new(0),
        }
    }

    /// A callback for link `id` to call when the link is lost. It does not keep this state alive.
    pub(super) fn on_loss(self: &Arc<Self>, id: u64) -> OnLoss {
        let shared = Arc::downgrade(self);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.lose(id);
            }
        })
    }

    /// Listens for moves, if the endpoint may move.
    pub(super) fn watch(self: &Arc<Self>) -> Option<SentinelListeners> {
        let RedisEndpoint::Sentinels(url) = &self.options.endpoint else { return None };
        let shared = Arc::downgrade(self);
        Some(SentinelListeners::start(url, move |address| {
            if let Some(shared) = shared.upgrade() {
                shared.has_moved(address);
            }
        }))
    }

    /// Takes note that the server has moved to this address. A link to another address is given up,
    /// an attempt under way begins again, and the next attempt comes soon.
    pub(super) fn has_moved(&self, address: &RedisAddress) {
        let is_elsewhere = |link: &Link| link.server.url.address != *address;
        let old = self.status.borrow().link().filter(|(_, link)| is_elsewhere(link)).map(|up| up.0);
        old.inspect(|id| self.leave(*id));
        self.moves.send_replace(());
        self.hurry.notify_one();
    }

    /// Gives up this link, which is broken or has not answered in time. A newer link stays.
    pub(super) fn lose(&self, id: u64) {
        self.go_down(id, Last::Stays);
    }

    /// Gives up this link, which leads to a server that cannot be used.
    pub(super) fn leave(&self, id: u64) {
        self.go_down(id, Last::Goes);
    }

    pub(super) fn go_down(&self, id: u64, last: Last) {
        let lost = LinkOutage::lost(&self.options.shown());
        let mut closing = None;
        self.status.send_if_modified(|status| {
            let is_it = status.is_link(id);
            if is_it {
                closing = status.go_down(lost, last);
            }
            is_it
        });
        drop(closing);
    }

    /// Has a new link opened beside the present one, if that one was silent for so long.
    pub(super) fn doubt(&self, silence: Duration) {
        self.status.send_if_modified(|status| match status {
            Status::Up(id, link) if link.heard.was_silent_for(silence) => {
                *status = Status::Doubted(*id, link.clone());
                self.is_doubted.store(true, Ordering::Relaxed);
                true
            }
            _ => false,
        });
    }

    /// Ends the doubt about a link that has answered after all.
    pub(super) fn trust(&self, link: &Link) {
        self.status.send_if_modified(|status| match status {
            Status::Doubted(id, doubted) if Arc::ptr_eq(&doubted.heard, &link.heard) => {
                *status = Status::Up(*id, doubted.clone());
                true
            }
            _ => false,
        });
    }

    /// Returns the link, or the next one if it comes soon. If this fails, nothing was sent.
    pub(super) async fn link(&self) -> Result<(u64, Link), StoreError> {
        // Nearly always there is a link, and then no subscription to the status is needed.
        if let Some((id, link)) = self.status.borrow().link() {
            return Ok((id, link.clone()));
        }
        let mut status = self.status.subscribe();
        let seen = match &*status.borrow_and_update() {
            Status::Up(id, link) | Status::Doubted(id, link) => return Ok((*id, link.clone())),
            Status::Down(outage, _) => outage.attempts,
        };
        self.hurry.notify_one();
        // Only a failure that comes after this call began answers it.
        let changed = status.wait_for(|status| match status {
            Status::Up(..) | Status::Doubted(..) => true,
            Status::Down(outage, _) => outage.attempts > seen,
        });
        // Whether or not the time ran out, the status as it is now gives the answer.
        let _ = timeout(RESPONSE_TIMEOUT, changed).await.map(drop);
        match &*self.status.borrow() {
            Status::Up(id, link) | Status::Doubted(id, link) => Ok((*id, link.clone())),
            Status::Down(outage, _) => Err(outage.error()),
        }
    }

    pub(super) fn judge(&self, id: u64, answer: CommandAnswer<Value>) -> Result<Value, StoreError> {
        match answer {
            Ok(Value::ServerError(refused)) => {
                self.leave_a_replica(id, &refused);
                Err(error::of_server(&refused))
            }
            Ok(value) => {
                // Each batch of a bundle has an answer of its own, and a demoted server refuses all
                // of them. So the first answer is enough.
                if let Value::Array(answers) = &value
                    && let Some(Value::ServerError(refused)) = answers.first()
                {
                    self.leave_a_replica(id, refused);
                }
                Ok(value)
            }
            Err(failed) => Err(self.not_answered(id, &failed)),
        }
    }

    /// Gives up a link on which a call was not answered, and returns the error.
    pub(super) fn not_answered(&self, id: u64, failed: &CallError) -> StoreError {
        self.lose(id);
        error::of_call(failed, &self.options.shown())
    }

    /// Gives up a link to a server that was demoted. The next link may lead to another server at
    /// the same address.
    pub(super) fn leave_a_replica(&self, id: u64, refused: &ServerError) {
        if refused.code() == "READONLY" {
            self.leave(id);
        }
    }

    /// Takes note of an answer to a script. It shows that the server is well, even if it is a
    /// refusal.
    pub(super) fn note(&self, link: &Link, answer: &CommandAnswer<Value>) {
        if answer.is_ok() {
            self.tries.store(0, Ordering::Relaxed);
            link.heard.note();
            if self.is_doubted.load(Ordering::Relaxed) {
                self.trust(link);
            }
        }
    }
}
