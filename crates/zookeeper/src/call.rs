//! One call: reads the name, executes the batch on a copy, and writes unless another client did.
//!
//! ```text
//!   follow the log ─▶ execute ─▶ look at clients in doubt ─▶ one transaction: check the base, write the log,
//!        ▲                ▲                │ gone: again        tell the inboxes concerned
//!        └── overtaken: pause ─────────────┴──────────────────────┘
//! ```

mod contacts;
mod pause;

use std::collections::BTreeSet;

use futures_util::future::try_join;
use seinpaal_proto::{Batch, Inbox, Name, Replies, Reply, Request, State, execute, time::Micros};
use tokio::time::Instant;

use self::{contacts::KnownContacts, pause::pause};
use super::{
    core::Core,
    error,
    header::Header,
    link::SessionLink,
    replica::{LONGEST_BASE, LONGEST_TO_ENTER, Learned, Replica, holders},
    stretch,
    transaction::{Executed, Floor, TransactionEnd},
    write::Hint,
};
use crate::error::DamagedAt as _;
use seinpaal_store::{News, StoreError};

impl Core {
    /// Executes a batch, again and again until no other client wrote first. If a client of
    /// `suspects` is gone, it loses all its leases and places first.
    pub(super) async fn execute(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        batch: &Batch,
        mut suspects: BTreeSet<Inbox>,
    ) -> Result<Replies, StoreError> {
        let mut attempt = 0;
        loop {
            let begun = Instant::now();
            let followed = self.follow(link, replica, &batch.name);
            let is_renewal = !self.has_manual_clock() && is_renewal(batch);
            // In this order, the question for the time is sent before the read, so the data read is
            // no older than the answer.
            let ((), floor) = try_join(self.freshen_time(link, is_renewal), followed).await?;
            if is_renewal && let Some(replies) = self.renew(link, replica, batch).await? {
                return Ok(replies);
            }
            let executed = self.settle_doubts(link, replica, batch, &suspects, floor).await?;
            match link.write(&batch.name, &executed, floor).await? {
                TransactionEnd::Yes => return Ok(self.finish(link, replica, batch, executed)),
                TransactionEnd::Overtaken => pause(attempt, begun.elapsed()).await,
                TransactionEnd::OtherBase => {
                    // Without its copy, the next attempt reads the base again.
                    replica.drop_copy();
                    pause(attempt, begun.elapsed()).await;
                }
                TransactionEnd::Gone(inbox) => drop(suspects.insert(inbox)),
            }
            undo(link, replica, &batch.name)?;
            attempt += 1;
        }
    }

    /// Brings the copy up to date. If the name is not there, returns the floor of its fences.
    pub(super) async fn follow(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        name: &Name,
    ) -> Result<Option<Floor>, StoreError> {
        loop {
            let Some((log, stat)) = link.get(&link.path(name)).await? else {
                replica.clear();
                // Read after the name was seen to be gone, the floor covers its last fence.
                return link.floor().await.map(Some);
            };
            replica.saw_leader(&stat);
            if let Some(format) = Header::other_format(&log) {
                return Err(error::other_version(&link.path(name), format));
            }
            let header = Replica::header(&log).map_err(|bad| bad.at(&link.path(name)))?;
            let base = match replica.has_base(&header) {
                true => None,
                false => match link.base(name, &header, &stat).await? {
                    Some(base) => Some(base),
                    // The name was packed again, or forgotten, between the two reads.
                    None => continue,
                },
            };
            let learned = replica.follow(stat.version, log, base);
            self.pass_on(name, learned.map_err(|bad| bad.at(&link.path(name)))?);
            return Ok(None);
        }
    }

    /// Executes the batch on the copy, until no client that is gone was taken for alive.
    pub(super) async fn settle_doubts(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        batch: &Batch,
        suspects: &BTreeSet<Inbox>,
        floor: Option<Floor>,
    ) -> Result<Executed, StoreError> {
        let mut gone = link.absent(suspects.iter().copied()).await?;
        let mut present: BTreeSet<Inbox> = BTreeSet::new();
        let now = self.now(link, replica.leader()).await?;
        loop {
            let executed = self.execute_on(link, replica, batch, &gone, now, floor);
            let doubtful: BTreeSet<_> = executed
                .doubtful
                .iter()
                .filter(|inbox| !present.contains(*inbox))
                .copied()
                .collect();
            let absent = link.absent(doubtful.iter().copied()).await?;
            if absent.is_empty() {
                return Ok(executed);
            }
            present.extend(doubtful.difference(&absent));
            gone.extend(absent);
            undo(link, replica, &batch.name)?;
        }
    }

    /// Executes a batch on the copy, and prepares the transaction for the ensemble.
    fn execute_on(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        batch: &Batch,
        gone: &BTreeSet<Inbox>,
        now: Micros,
        floor: Option<Floor>,
    ) -> Executed {
        // A name that was forgotten starts above every fence that it may have given before.
        let fence_seen = batch.fence_seen.max(floor.map_or(0, |floor| floor.fence));
        let batch = Batch { fence_seen, ..self.as_executed(link, batch) };
        let first = replica.state.line().next().map(|entry| entry.ticket);
        let Ok(before) = replica.state.head();
        let mut recorder = replica.recorder(now);
        recorder.end_leases_of(gone);
        let mut known = KnownContacts { gone, asked: BTreeSet::new() };
        let Ok(outcome) = execute(&mut recorder, &mut known, now, &batch);
        let recorded = recorder.packer;
        let hints: Vec<Hint> = outcome.wakeups.iter().map(Hint::from).collect();
        let next = replica.state.line().next().filter(|next| Some(next.ticket) != first);
        // From now on the new first waiter is the client that notices the death of a holder.
        let concerned = hints.iter().map(|hint| hint.inbox).chain(next.and_then(|it| it.inbox));
        // A write to the inbox of a client that is gone would fail the whole transaction.
        let to_tell = |inbox: &Inbox| *inbox != self.inbox() && !gone.contains(inbox);
        let told: BTreeSet<Inbox> = concerned.filter(to_tell).collect();
        let must_be_sure = must_be_sure(&outcome.replies);
        let doubtful = self.doubtful(replica, known.asked, must_be_sure, &told);
        let fence = before.fence.max(batch.fence_seen).max(highest_fence(&outcome.replies));
        let longest_base = longest_base(&batch);
        let change = replica.change(recorded, &hints, longest_base);
        Executed { outcome, change, hints, told, doubtful, fence, longest_base }
    }

    /// Returns the clients that the call takes for alive without a proof. The transaction checks
    /// the clients that it tells, and the death of a watched client would have been noticed.
    fn doubtful(
        &self,
        replica: &Replica,
        mut asked: BTreeSet<Inbox>,
        must_be_sure: bool,
        told: &BTreeSet<Inbox>,
    ) -> BTreeSet<Inbox> {
        if must_be_sure {
            asked.extend(holders(replica));
        }
        asked.retain(|inbox| {
            *inbox != self.inbox() && !told.contains(inbox) && !self.watches.sees(*inbox)
        });
        asked
    }

    fn finish(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        batch: &Batch,
        executed: Executed,
    ) -> Replies {
        let mine = executed.hints.iter().filter(|hint| hint.inbox == self.inbox()).cloned();
        let learned = Learned { hints: mine.collect(), has_gap: false };
        replica.keep(executed.change, executed.hints);
        self.pass_on(&batch.name, learned);
        let mut replies = executed.outcome.replies;
        if !self.has_manual_clock() {
            stretch::shorten(batch, &mut replies, link.longest_lease());
        }
        replies
    }

    fn as_executed(&self, link: &SessionLink, batch: &Batch) -> Batch {
        match self.has_manual_clock() {
            // Tests with a clock of their own compare with the ledger, which has no sessions.
            true => batch.clone(),
            false => stretch::stretched(batch, link.longest_lease()),
        }
    }

    /// Answers renewals that need no write.
    async fn renew(
        &self,
        link: &SessionLink,
        replica: &mut Replica,
        batch: &Batch,
    ) -> Result<Option<Replies>, StoreError> {
        let now = self.now(link, replica.leader()).await?;
        Ok(stretch::without_writing(batch, replica, now, link.longest_lease()))
    }

    /// Sends the news to Seinpaal's session that concern it.
    fn pass_on(&self, name: &Name, learned: Learned) {
        // A client that drops its receiver before its store wants no more news.
        if learned.has_gap {
            let _ = self.news.send(News::LookAgain);
        }
        for hint in learned.hints.into_iter().filter(|hint| hint.inbox == self.inbox()) {
            let _ = self.news.send(News::Wakeup(hint.about(name)));
        }
    }

    /// Asks for the leader's time if it is not known. With `must_write` it always asks: the batch
    /// may be answered without a write of its own, and this write shows that a quorum is there.
    async fn freshen_time(&self, link: &SessionLink, must_write: bool) -> Result<(), StoreError> {
        match self.manual_now().or_else(|| link.time.now(0)) {
            Some(_) if !must_write => Ok(()),
            _ => link.ask_time().await,
        }
    }

    /// Returns the time of this leader or of a later one.
    pub(super) async fn now(&self, link: &SessionLink, leader: i64) -> Result<Micros, StoreError> {
        if let Some(now) = self.manual_now() {
            return Ok(now);
        }
        loop {
            if let Some(now) = link.time.now(leader) {
                return Ok(now);
            }
            link.ask_time().await?;
        }
    }
}

fn is_renewal(batch: &Batch) -> bool {
    let renews = |request: &Request| matches!(request, Request::Renew(_));
    !batch.requests.is_empty() && batch.requests.iter().all(renews)
}

/// Returns how long the base may become. A request for a permit or a place must leave room for the
/// clients that are there, which must be able to go on and to leave.
fn longest_base(batch: &Batch) -> usize {
    let enters = |request: &Request| matches!(request, Request::Acquire(_) | Request::Attach(_));
    if batch.requests.iter().any(enters) { LONGEST_TO_ENTER } else { LONGEST_BASE }
}

/// Returns whether an answer is right only if every holder is alive. A batch without requests
/// counts as well, because it is sent to settle.
fn must_be_sure(replies: &Replies) -> bool {
    let depends = |reply: &Reply| matches!(reply, Reply::Busy { .. } | Reply::Snapshot(_));
    replies.replies.is_empty() || replies.replies.iter().any(depends)
}

fn highest_fence(replies: &Replies) -> u64 {
    let fence = |reply: &Reply| match reply {
        Reply::Granted(grant) => grant.fence.0,
        _ => 0,
    };
    replies.replies.iter().map(fence).max().unwrap_or(0)
}

/// Undoes on the copy the changes that were executed and not written.
pub(super) fn undo(
    link: &SessionLink,
    replica: &mut Replica,
    name: &Name,
) -> Result<(), StoreError> {
    replica.undo().map_err(|bad| bad.at(&link.path(name)))
}
