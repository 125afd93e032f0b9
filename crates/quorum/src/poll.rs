//! Asks again for the tickets that wait.

use std::sync::Arc;

use seinpaal_proto::{Acquire, Name, Reply, Request, Ticket, Wakeup, What};

use super::{
    Quorum,
    matter::CallHeader,
    table::{HeldGrant, cause_of_end},
};
use seinpaal_store::News;

impl Quorum {
    /// Asks again for the tickets that wait here, and sends a wakeup to those that are granted.
    pub(super) async fn poll(self: &Arc<Self>, name: &Name, tickets: Vec<Ticket>) {
        let desk = self.desk(name);
        let _turn = desk.lock().await;
        self.poll_in_turn(name, tickets).await;
    }

    /// As [`poll`](Self::poll), for a caller that has the turn at the name already.
    pub(super) async fn poll_in_turn(self: &Arc<Self>, name: &Name, tickets: Vec<Ticket>) {
        let not_after = self.not_after();
        let wants: Vec<Acquire> = {
            let table = self.table();
            let wants = tickets.iter().filter_map(|ticket| table.waits(name, *ticket).cloned());
            wants.map(|want| Acquire { not_after, ..want }).collect()
        };
        if wants.is_empty() {
            return;
        }
        let header = CallHeader { name, inbox: Some(self.inbox), fence_seen: 0 };
        let requests: Vec<Request> = wants.iter().cloned().map(Request::Acquire).collect();
        let matters = requests.iter().map(|request| self.matter(name, request)).collect();
        let replies = match self.decide(&header, matters).await {
            Ok(given) => given.replies,
            Err(error) => {
                tracing::debug!(target: crate::TARGET, %error, "asked again in vain");
                vec![None; wants.len()]
            }
        };
        for (want, reply) in wants.into_iter().zip(replies) {
            self.take_poll(name, &want, reply);
        }
    }

    fn take_poll(&self, name: &Name, want: &Acquire, reply: Option<Reply>) {
        let ticket = want.ticket;
        let ended = reply.as_ref().and_then(cause_of_end);
        let what = match (reply, ended) {
            (Some(Reply::Granted(grant)), _) => {
                let (fence, slots, limit) = (grant.fence, grant.slots, grant.limit);
                self.table().grant(
                    name,
                    HeldGrant {
                        want: want.clone(),
                        lease: want.ticket.lease(),
                        slots: slots.clone(),
                        fence: fence.0,
                    },
                );
                What::Granted { fence, slots, limit }
            }
            (_, Some(cause)) => {
                self.table().forget(name, ticket);
                What::Ended(cause)
            }
            // The request was not decided, or still waits. Its next turn is drawn at random.
            _ => {
                self.table().wait(name, want, self.share());
                return;
            }
        };
        let wakeup = Wakeup { inbox: self.inbox, name: name.clone(), ticket, what };
        let _ = self.news.send(News::Wakeup(wakeup));
    }
}
