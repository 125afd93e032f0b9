//! Corrects nodes after a decision: votes in vain are taken back, and a grant is written to nodes
//! that lack it. No caller waits for a correction, because each connection keeps its order: a later
//! call of this client comes to the node after it.

use std::sync::Arc;

use futures_util::future::join_all;
use seinpaal_proto::{Acquire, Name, Renew, Reply, Request, TicketReply, Whom};

use super::{
    Quorum,
    answer::{NodeAnswer, NodeReply},
    ballot::Ballot,
    gather::Gathering,
    line::ballot_line,
    matter::{CallHeader, Matter, OpenMatter, at},
    node::{Envelope, MOST_LINES},
    table::HeldGrant,
};

impl Quorum {
    /// Writes grants that a majority has just renewed to the nodes that lack them. A node lacks a
    /// grant if it came back without its memory, or if it missed the grant.
    pub(super) fn mend_renewed(
        &self,
        header: &CallHeader<'_>,
        request: &Request,
        reply: &Reply,
        gathering: &Gathering,
        line: usize,
        fixes: &mut Fixes,
    ) {
        // A renewal without an inbox only looks. It extends no lease, so nothing may be written
        // under its lease and ttl.
        let (Request::Renew(renew), Some(_)) = (request, header.inbox) else { return };
        let missing: Vec<usize> = at(gathering, line)
            .enumerate()
            .filter(|(_, answer)| answer.is_some_and(|(_, found)| misses(found)))
            .map(|(node, _)| node)
            .collect();
        if missing.is_empty() {
            return;
        }
        for held in self.renewed(header.name, renew, reply) {
            // The line has the lease as it was just renewed, because the node may lack the lease as
            // well.
            let want = Acquire { ttl: renew.ttl, ..held.want };
            self.table().mend(header.name, want.ticket, &missing);
            let (lease, slots, fence) = (renew.lease, Some(held.slots), held.fence);
            let ballot = Ballot { want, lease, slots, fence, tries: 0 };
            for node in &missing {
                fixes.lines[*node].push(ballot_line("mend", &ballot));
            }
        }
    }

    /// All grants of this session that a renewal has extended. A node renews a lease as a whole
    /// only if it has every ticket. So all of them are sent: a part would not make the node renew
    /// again.
    fn renewed(&self, name: &Name, renew: &Renew, reply: &Reply) -> Vec<HeldGrant> {
        let table = self.table();
        match (&renew.whom, reply) {
            (Whom::All { .. }, Reply::Renewed { .. }) => table.under(name, renew.lease),
            (Whom::Tickets(tickets), Reply::Tickets { tickets: found, .. }) => tickets
                .iter()
                .zip(found)
                .filter(|(_, found)| matches!(found, TicketReply::Held { .. }))
                .filter_map(|(ticket, _)| table.held(name, *ticket).cloned())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Takes votes back after a call that no majority answered. The session asks again.
    pub(super) fn take_back(
        &self,
        header: &CallHeader<'_>,
        open: &[OpenMatter],
        gathering: &Gathering,
    ) {
        let mut fixes = Fixes::new(self.nodes.len());
        for item in open {
            if let Matter::Take(ballot) = &item.matter
                && self.table().held(header.name, ballot.want.ticket).is_none()
            {
                fixes.give_way(&at(gathering, item.line).collect::<Vec<_>>(), ballot);
            }
        }
        self.fix(&self.envelope(header), gathering, fixes);
    }

    /// Sends the corrections, and waits for none of them.
    pub(super) fn fix(&self, envelope: &Envelope, gathering: &Gathering, fixes: Fixes) {
        for (index, lines) in fixes.lines.into_iter().enumerate() {
            if lines.is_empty() || !gathering.was_sent(index) {
                continue;
            }
            let (node, envelope) = (Arc::clone(&self.nodes[index]), envelope.clone());
            tokio::spawn(async move {
                // All calls are sent at the same time, so that no later request of this client,
                // such as the end of a ticket, overtakes one of them.
                let calls = lines.chunks(MOST_LINES).map(|some| node.ask(&envelope, some));
                for error in join_all(calls).await.into_iter().filter_map(Result::err) {
                    tracing::debug!(target: crate::TARGET, %error, "not put right");
                }
            });
        }
    }
}

/// The corrections for each node.
pub(super) struct Fixes {
    lines: Vec<Vec<String>>,
}

impl Fixes {
    pub(super) fn new(nodes: usize) -> Self {
        Self { lines: vec![Vec::new(); nodes] }
    }

    /// Adds a line for every node whose answer does not show the decision, and for every node that
    /// has not answered.
    pub(super) fn add(
        &mut self,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        is_done: impl Fn(&NodeReply) -> bool,
        line: &str,
    ) {
        for (lines, answer) in self.lines.iter_mut().zip(answers) {
            if !answer.is_some_and(|(_, reply)| is_done(reply)) {
                lines.push(line.to_owned());
            }
        }
    }

    /// Takes votes back, so that a minority that voted is free for others at once.
    pub(super) fn give_way(
        &mut self,
        answers: &[Option<(&NodeAnswer, &NodeReply)>],
        ballot: &Ballot,
    ) {
        let has_no_vote = |reply: &NodeReply| !matches!(reply, NodeReply::Took(_));
        self.add(answers, has_no_vote, &ballot_line("yield", ballot));
    }
}

fn misses(reply: &NodeReply) -> bool {
    match reply {
        NodeReply::Plain(Reply::Gone | Reply::Differs) => true,
        NodeReply::Plain(Reply::Tickets { tickets, .. }) => {
            tickets.iter().any(|found| !matches!(found, TicketReply::Held { .. }))
        }
        _ => false,
    }
}
