//! Stretches leases that end with the session, so that most renewals need no write.
//!
//! Seinpaal's session cuts its ttls to the time that the ZooKeeper session is sure to last, and
//! renews at an eighth of that. Such a lease is written for longer than the client asked, since it
//! ends with its client's inbox in any case. A renewal that finds enough of it left does not write
//! to the name, to which others want to write. It asks for the time, which takes a quorum, and then
//! reads. The client is never told a longer time than it asked for.

use seinpaal_proto::{Batch, Inbox, Renew, Replies, Reply, Request, State, Whom, time::Micros};

use super::replica::Replica;

/// By how many times such a lease is stretched. No more, because a session that cannot reach the
/// store stops trying to leave after two of its ttls, and relies on the lease having ended by then.
const TIMES: Micros = 2;

/// Returns the batch as it is executed. `longest` is the length to which ttls were cut.
pub(super) fn stretched(batch: &Batch, longest: Micros) -> Batch {
    let mut batch = batch.clone();
    if batch.inbox.is_none() {
        // There is no client's inbox that would end such a lease.
        return batch;
    }
    for request in &mut batch.requests {
        match request {
            Request::Acquire(want) => {
                want.ttl = stretch(want.ttl, longest);
                want.waiter_ttl = stretch(want.waiter_ttl, longest);
            }
            Request::Attach(attach) => attach.ttl = stretch(attach.ttl, longest),
            Request::Renew(renew) => {
                renew.ttl = stretch(renew.ttl, longest);
            }
            _ => {}
        }
    }
    batch
}

/// Returns the ttl that is written. A ttl below the cut stays as it is, because the caller wants
/// just that.
fn stretch(ttl: Micros, longest: Micros) -> Micros {
    if ttl < longest { ttl } else { ttl.max(longest * TIMES) }
}

/// Returns the answers to a batch if all its requests are renewals that find enough left. `None`:
/// the batch must be executed.
pub(super) fn without_writing(
    batch: &Batch,
    replica: &mut Replica,
    now: Micros,
    longest: Micros,
) -> Option<Replies> {
    let me = batch.inbox?;
    if batch.requests.is_empty() || is_first(replica, me) {
        // The first waiter in line writes each time, which keeps the ledger's clock going.
        return None;
    }
    let Ok(head) = replica.state.head();
    let clock = head.clock + now.saturating_sub(head.wall).min(head.bound);
    let Ok(first) = replica.state.first_lease_by_end();
    // A lease has run out, and settling that takes a write.
    if first.is_none_or(|lease| lease.ends <= clock) {
        return None;
    }
    let answer = |request: &Request| match request {
        Request::Renew(renew) if renew.ttl >= longest => renewed(replica, me, renew, clock),
        _ => None,
    };
    let replies = batch.requests.iter().map(answer).collect::<Option<Vec<_>>>()?;
    Some(Replies { now, replies, backlog: false, look_in: None })
}

fn is_first(replica: &mut Replica, me: Inbox) -> bool {
    replica.state.line().next().is_some_and(|first| first.inbox == Some(me))
}

fn renewed(replica: &mut Replica, me: Inbox, renew: &Renew, clock: Micros) -> Option<Reply> {
    let Whom::All { members, digest } = &renew.whom else { return None };
    let Ok(lease) = replica.state.lease(renew.lease);
    let lease = lease?;
    let is_known = lease.inbox == Some(me) && lease.parked == 0;
    let is_same = (lease.members, lease.digest) == (*members, *digest);
    let left = lease.ends.saturating_sub(clock);
    let is_long = left >= renew.ttl + renew.ttl / 12;
    (is_known && is_same && is_long).then_some(Reply::Renewed { valid_for: Some(renew.ttl) })
}

/// Cuts the answers, so that no client believes in a lease for longer than it asked for, nor for
/// longer than the session is sure to last.
pub(super) fn shorten(batch: &Batch, replies: &mut Replies, longest: Micros) {
    for (request, reply) in batch.requests.iter().zip(&mut replies.replies) {
        let asked = match request {
            Request::Acquire(want) => want.ttl,
            Request::Attach(attach) => attach.ttl,
            Request::Renew(renew) => renew.ttl,
            _ => continue,
        };
        // A lease without an inbox does not end with a session.
        let most = if batch.inbox.is_some() { asked.min(longest) } else { asked };
        match reply {
            Reply::Granted(grant) => cut(&mut grant.valid_for, most),
            Reply::Renewed { valid_for }
            | Reply::Waits { valid_for, .. }
            | Reply::Tickets { valid_for, .. } => cut(valid_for, most),
            _ => {}
        }
    }
}

fn cut(valid_for: &mut Option<Micros>, most: Micros) {
    *valid_for = valid_for.map(|valid_for| valid_for.min(most));
}
