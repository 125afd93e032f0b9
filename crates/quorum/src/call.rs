//! Puts a batch to all nodes: all its requests in one call, and the undecided ones in further
//! calls.

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{
    Acquire, Batch, Configure, Limit, Name, OnMismatch, Replies, Reply, Request, SlotNames,
    time::Micros,
};
use tokio::time::Instant;

use super::{
    Quorum,
    answer::{GuardWord, NodeAnswer},
    attach::Transfer,
    ballot::{Ballot, BallotVerdict},
    gather::Gathering,
    judge::MatterEnd,
    line::{attach_line, ballot_line, line},
    matter::{CallHeader, Matter, OpenMatter, Yield, at},
    mend::Fixes,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// How many proposals one request makes in one call before it gives way to others.
const MOST_TRIES: u32 = 7;
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

impl Quorum {
    pub(super) async fn execute(self: &Arc<Self>, batch: &Batch) -> Result<Replies, StoreError> {
        self.refuse_what_outlasts_the_guard(batch)?;
        refuse_unfit(batch)?;
        let desk = self.desk(&batch.name);
        let _turn = desk.lock().await;
        let header =
            CallHeader { name: &batch.name, inbox: batch.inbox, fence_seen: batch.fence_seen };
        let open = || batch.requests.iter().filter(|request| nowhere(request).is_none());
        let matters = open().map(|request| self.matter(&batch.name, request));
        let sent = Instant::now();
        let given = self.decide(&header, matters.collect()).await?;
        let mut decided = given.replies.into_iter();
        let replies = batch
            .requests
            .iter()
            .map(|request| nowhere(request).or_else(|| decided.next().flatten()).ok_or(request));
        let replies: Vec<Reply> = replies.map(undecided).collect::<Result<_, _>>()?;
        self.note(batch, &replies, sent);
        // The nodes have said which waiters of this client may go next, and this call still has the
        // turn at the name.
        self.poll_in_turn(&batch.name, given.looks).await;
        Ok(Replies { now: given.now, replies, backlog: given.backlog, look_in: None })
    }

    pub(super) fn matter(&self, name: &Name, request: &Request) -> Matter {
        match request {
            Request::Acquire(want) => Matter::Take(self.ballot(name, want)),
            Request::Attach(want) => Matter::Attach(Transfer { want: want.clone(), fence: 0 }),
            Request::Configure(change) => Matter::Set(settings_of(change)),
            other => Matter::Plain(other.clone()),
        }
    }

    /// The proposal for a request. A ticket that was granted already is proposed with the same
    /// slots and fence, so that the proposal finds the same grant.
    fn ballot(&self, name: &Name, want: &Acquire) -> Ballot {
        let table = self.table();
        let known = table.held(name, want.ticket);
        Ballot {
            want: want.clone(),
            lease: known.map_or_else(|| want.ticket.lease(), |held| held.lease),
            slots: known.map(|held| held.slots.clone()),
            fence: known.map_or(0, |held| held.fence),
            tries: 0,
        }
    }

    pub(super) async fn decide(
        self: &Arc<Self>,
        header: &CallHeader<'_>,
        matters: Vec<Matter>,
    ) -> Result<Yield, StoreError> {
        let mut given =
            Yield { replies: matters.iter().map(|_| None).collect(), ..Yield::default() };
        let mut open: Vec<OpenMatter> = matters
            .into_iter()
            .enumerate()
            .map(|(index, matter)| OpenMatter { index, matter, line: 0 })
            .collect();
        for tries in 0..MOST_TRIES {
            let is_last = tries + 1 == MOST_TRIES;
            let hurry = self.round(header, &mut open, &mut given, is_last).await?;
            if open.is_empty() {
                break;
            }
            if !hurry {
                tokio::time::sleep(self.pause_after(tries)).await;
            }
        }
        Ok(given)
    }

    /// Makes one call to all nodes about every open matter. Returns whether to go on at once.
    async fn round(
        self: &Arc<Self>,
        header: &CallHeader<'_>,
        open: &mut Vec<OpenMatter>,
        given: &mut Yield,
        is_last: bool,
    ) -> Result<bool, StoreError> {
        let lines = self.lines(header, open);
        let envelope = self.envelope(header);
        let mut gathering = Gathering::send(&self.nodes, &envelope, &lines);
        gathering.wait(|so_far| is_decided(open, so_far), self.longest_wait(open)).await;
        self.learn(&gathering);
        if let Err(error) = gathering.majority().and_then(|()| self.check_guard(&gathering)) {
            self.take_back(header, open, &gathering);
            return Err(error);
        }
        gathering.answers().flatten().for_each(|answer| given.hear(answer));
        let mut fixes = Fixes::new(self.nodes.len());
        let hurry = self.judge_all(header, open, &gathering, &mut fixes, given, is_last);
        self.fix(&envelope, &gathering, fixes);
        Ok(hurry)
    }

    /// Judges every open matter. An undecided matter stays open. Returns whether to go on at once.
    fn judge_all(
        &self,
        header: &CallHeader<'_>,
        open: &mut Vec<OpenMatter>,
        gathering: &Gathering,
        fixes: &mut Fixes,
        given: &mut Yield,
        is_last: bool,
    ) -> bool {
        let mut hurry = true;
        for item in std::mem::take(open) {
            let index = item.index;
            match self.judge(header, item, gathering, fixes, is_last) {
                MatterEnd::Done(reply) => given.replies[index] = Some(reply),
                MatterEnd::Again(matter, at_once) => {
                    hurry &= at_once;
                    open.push(OpenMatter { index, matter, line: 0 });
                }
            }
        }
        hurry
    }

    /// The lines of a call. Proposals get their fences here.
    fn lines(&self, header: &CallHeader<'_>, open: &mut [OpenMatter]) -> Vec<String> {
        let mut lines = Vec::new();
        for item in open {
            // A limit that the request sets stands before its vote, on each node.
            if let Some(limit) = limit_to_set(&item.matter) {
                lines.push(format!("set {} limit {limit}", self.next_fence(header.fence_seen)));
            }
            item.line = lines.len();
            match &mut item.matter {
                Matter::Take(ballot) => {
                    if ballot.fence == 0 {
                        ballot.fence = self.next_fence(header.fence_seen);
                    }
                    lines.push(ballot_line("take", ballot));
                }
                Matter::Attach(transfer) => {
                    transfer.fence = self.next_fence(header.fence_seen);
                    lines.push(attach_line(transfer.fence, &transfer.want));
                }
                Matter::Set(settings) => {
                    let version = self.next_fence(header.fence_seen);
                    let line =
                        |(what, value): &(&str, String)| format!("set {version} {what} {value}");
                    lines.extend(settings.iter().map(line));
                }
                Matter::Plain(request) => lines.push(line(request)),
            }
        }
        lines
    }

    fn note(&self, batch: &Batch, replies: &[Reply], sent: Instant) {
        let share = self.share();
        let mut table = self.table();
        for (request, reply) in batch.requests.iter().zip(replies) {
            match (request, reply) {
                (Request::Acquire(want), Reply::Queued { .. })
                    if batch.inbox == Some(self.inbox) =>
                {
                    table.wait(&batch.name, want, share);
                }
                (Request::Acquire(_), Reply::Granted(_) | Reply::Queued { .. }) => {}
                (Request::Acquire(want), _) => table.forget(&batch.name, want.ticket),
                _ => table.note(batch, request, reply, sent),
            }
        }
        if table.is_waiting() {
            self.hint.notify_one();
            self.nodes.iter().for_each(|node| node.server.expect_news());
        }
    }

    fn check_guard(&self, gathering: &Gathering) -> Result<(), StoreError> {
        let differs = |answer: &&NodeAnswer| answer.guard.word == GuardWord::Differs;
        match gathering.answers().flatten().find(differs) {
            None => Ok(()),
            Some(answer) => Err(self.other_guard(answer.guard.stored)),
        }
    }

    /// How long to wait: a fifth of the shortest ttl, so that a node that does not answer does not
    /// cost a holder its lease.
    fn longest_wait(&self, open: &[OpenMatter]) -> Duration {
        let ttl = open.iter().filter_map(|item| match &item.matter {
            Matter::Take(ballot) => Some(ballot.want.ttl),
            Matter::Attach(transfer) => Some(transfer.want.ttl),
            Matter::Plain(Request::Renew(renew)) if renew.ttl > 0 => Some(renew.ttl),
            _ => None,
        });
        Duration::from_micros(ttl.min().unwrap_or(Micros::MAX) / 5)
    }

    fn pause_after(&self, tries: u32) -> Duration {
        SHORTEST_PAUSE * 2u32.pow(tries.min(5)) / 2
            + (SHORTEST_PAUSE * 2u32.pow(tries.min(5) + 1)).mul_f64(self.share())
    }
}

/// Returns whether no answer that is still to come can matter. Only a grant is decided before all
/// nodes have answered or their time is over. A call without a matter also waits for a majority.
fn is_decided(open: &[OpenMatter], gathering: &Gathering) -> bool {
    open.iter().all(|item| match &item.matter {
        Matter::Take(ballot) => {
            let answers: Vec<_> = at(gathering, item.line).collect();
            matches!(ballot.count(&answers, false), BallotVerdict::Granted { .. })
        }
        _ => false,
    }) && !open.is_empty()
}

/// The refusal of a client that wishes for slots by their names, because the nodes keep no names
/// for slots.
fn nowhere(request: &Request) -> Option<Reply> {
    match request {
        Request::Acquire(want) if !want.wishes.is_empty() => {
            Some(Reply::NoSuchSlot { ticket: want.ticket, there: SlotNames::none() })
        }
        _ => None,
    }
}

/// Refuses requests that a single server must decide, before anything is sent.
fn refuse_unfit(batch: &Batch) -> Result<(), StoreError> {
    match batch.requests.iter().find_map(why_unfit) {
        None => Ok(()),
        Some(why) => {
            Err(StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, why))
        }
    }
}

fn why_unfit(request: &Request) -> Option<&'static str> {
    match request {
        Request::Configure(Configure::Slots(_)) => Some(
            "a quorum keeps no names for slots, because its servers decide each slot by themselves: use one server, \
             Sentinel, a cluster, ZooKeeper or the embedded store for this name",
        ),
        _ => None,
    }
}

fn settings_of(change: &Configure) -> Vec<(&'static str, String)> {
    match change {
        Configure::Limit(limit) => vec![("pin", limit.to_string())],
        Configure::Unpin => vec![("unpin", String::new())],
        Configure::Pause(reason) => vec![("pause", reason.clone())],
        Configure::Resume => vec![("resume", String::new())],
        _ => Vec::new(),
    }
}

fn undecided(reply: Result<Reply, &Request>) -> Result<Reply, StoreError> {
    reply.map_err(|_| {
        let message = "the nodes of the quorum do not agree: try again";
        StoreError::new(StoreErrorKind::Unreachable, Certainty::Unknown, message)
    })
}

fn limit_to_set(matter: &Matter) -> Option<Limit> {
    match matter {
        Matter::Take(ballot) => {
            let rule = ballot.want.limit.filter(|rule| rule.on_mismatch == OnMismatch::Set);
            rule.map(|rule| rule.limit)
        }
        _ => None,
    }
}
