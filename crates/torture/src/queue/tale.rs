//! The history, item by item.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::QueueVerdict;
use crate::{
    check::{Check, Violation},
    history::{HistoryEvent, TortureWhat},
};

/// The history of one item.
#[derive(Debug, Default)]
pub(super) struct ItemTale {
    pub(super) req: String,
    pub(super) group: Option<String>,
    pub(super) asked: u64,
    pub(super) due: u64,
    pub(super) pushed: Option<u64>,
    pub(super) id: Option<u64>,
    pub(super) deliveries: Vec<ToldDelivery>,
    pub(super) acknowledged: Option<u64>,
    /// The fences of acknowledgements that were sent and not refused.
    pub(super) tried: BTreeSet<u64>,
    /// Whether the store has said that the item is not in the queue.
    pub(super) is_refused: bool,
    /// Whether the item was still in the queue at the end, as a dead letter or delayed.
    pub(super) is_kept: bool,
}

impl ItemTale {
    /// Returns whether the item was acknowledged, or its last delivery may have done that. An
    /// earlier delivery has not, or there would have been no later one.
    pub(super) fn may_be_done(&self) -> bool {
        let last = self.deliveries.iter().map(|it| it.fence).max();
        self.acknowledged.is_some() || last.is_some_and(|last| self.tried.contains(&last))
    }
}

/// A delivery that reached a program.
#[derive(Clone, Debug)]
pub(super) struct ToldDelivery {
    pub(super) fence: u64,
    /// When the worker asked for an item. `None` if it did not say so.
    pub(super) popped: Option<u64>,
    pub(super) at: u64,
    pub(super) until: u64,
    pub(super) who: String,
}

/// Reads the history of each item. Puts contradictions into `found`.
pub(super) fn tell(
    events: &[HistoryEvent],
    verdict: &mut QueueVerdict,
    found: &mut Vec<Violation>,
) -> BTreeMap<String, ItemTale> {
    let (tales, ids, pops) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut teller = Teller { tales, ids, pops, verdict, found };
    for event in events {
        teller.take(event);
    }
    teller.tales
}

/// The items while the history is being read.
struct Teller<'a> {
    tales: BTreeMap<String, ItemTale>,
    /// The request of each item, by the id that the store gave.
    ids: BTreeMap<u64, String>,
    /// When each pop was asked for.
    pops: BTreeMap<String, u64>,
    verdict: &'a mut QueueVerdict,
    found: &'a mut Vec<Violation>,
}

impl Teller<'_> {
    fn take(&mut self, event: &HistoryEvent) {
        let at = event.at;
        match &event.what {
            TortureWhat::Push { .. }
            | TortureWhat::Pushed { .. }
            | TortureWhat::NotPushed { .. } => self.push(event),
            TortureWhat::Pop { req } => drop(self.pops.insert(req.clone(), at)),
            TortureWhat::Delivered { .. } => self.deliver(event),
            TortureWhat::InHand { .. }
            | TortureWhat::ItemLost { .. }
            | TortureWhat::Killing { .. } => self.hold(event),
            TortureWhat::Finishing { .. } | TortureWhat::Finished { .. } => self.finish(event),
            TortureWhat::DeadLetter { id } => {
                self.verdict.dead += 1;
                self.of(*id).into_iter().for_each(|tale| tale.is_kept = true);
            }
            TortureWhat::StillDelayed { id } => {
                self.of(*id).into_iter().for_each(|tale| tale.is_kept = true);
            }
            TortureWhat::QueueLeft { ready, delayed, in_work } if ready + delayed + in_work > 0 => {
                let left = format!("{ready} items ready, {delayed} delayed, {in_work} in work");
                self.broken(Check::Left, at, left);
            }
            TortureWhat::Kept { what_is_kept } => {
                self.broken(Check::Left, at, format!("{what_is_kept} is kept"));
            }
            TortureWhat::Hangs { what_hangs } => self.broken(Check::Hang, at, what_hangs.clone()),
            TortureWhat::FaultBegins { fault, .. } => {
                *self.verdict.faults.entry(fault.clone()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn push(&mut self, HistoryEvent { at, what, .. }: &HistoryEvent) {
        match what {
            TortureWhat::Push { req, delay, group } => {
                let (due, group, req) = (at + delay, group.clone(), req.clone());
                let tale =
                    ItemTale { req: req.clone(), group, asked: *at, due, ..ItemTale::default() };
                self.tales.insert(req, tale);
            }
            TortureWhat::Pushed { req, id } => {
                self.verdict.pushed += 1;
                let Some(tale) = self.tales.get_mut(req) else { return };
                tale.pushed = Some(*at);
                self.number(req, *id, *at);
            }
            TortureWhat::NotPushed { req, maybe: false, .. } => {
                let Some(tale) = self.tales.get_mut(req) else { return };
                tale.is_refused = true;
                if tale.id.is_some() {
                    self.delivered_though_refused(req, *at);
                }
            }
            _ => {}
        }
    }

    fn delivered_though_refused(&mut self, req: &str, at: u64) {
        self.broken(Check::Again, at, format!("{req} was not pushed, and is delivered"));
    }

    fn deliver(&mut self, HistoryEvent { at, who, what }: &HistoryEvent) {
        let TortureWhat::Delivered { req, payload, id, fence, group, until } = what else { return };
        self.verdict.deliveries += 1;
        self.number(payload, *id, *at);
        let Some(tale) = self.tales.get_mut(payload) else {
            let story = format!("item {id} has the payload {payload:?}, which nobody pushed");
            return self.broken(Check::ItemChanged, *at, story);
        };
        let (until, popped) = (until.unwrap_or(u64::MAX), self.pops.get(req).copied());
        let who = who.clone();
        tale.deliveries.push(ToldDelivery { fence: *fence, popped, at: *at, until, who });
        let (pushed, is_refused) = (tale.group.clone(), tale.is_refused);
        if is_refused {
            self.delivered_though_refused(payload, *at);
        }
        if pushed != *group {
            let story = format!("{payload} was pushed in group {pushed:?} and has {group:?}");
            self.broken(Check::ItemChanged, *at, story);
        }
    }

    fn hold(&mut self, HistoryEvent { at, what, .. }: &HistoryEvent) {
        match what {
            TortureWhat::InHand { id, fence, until } => {
                let until = until.unwrap_or(u64::MAX);
                // A worker that was stopped past its lease learns on waking that the lease has
                // ended. So its belief ended with the lease, and not with this event.
                self.change(*id, *fence, |it| {
                    it.until = if until > *at { until } else { it.until.min(*at) };
                });
            }
            TortureWhat::ItemLost { id, fence } => {
                self.verdict.lost += 1;
                self.change(*id, *fence, |it| it.until = it.until.min(*at));
            }
            TortureWhat::Killing { life } => {
                let held = self.tales.values_mut().flat_map(|tale| &mut tale.deliveries);
                held.filter(|it| it.who == *life).for_each(|it| it.until = it.until.min(*at));
            }
            _ => {}
        }
    }

    fn finish(&mut self, HistoryEvent { at, what, .. }: &HistoryEvent) {
        match what {
            TortureWhat::Finishing { id, fence, how } => {
                self.change(*id, *fence, |it| it.until = it.until.min(*at));
                if how == "acknowledge" {
                    self.tried(*id).into_iter().for_each(|tried| tried.extend([*fence]));
                }
            }
            // The store refuses what is over, so this has not ended the delivery.
            TortureWhat::Finished { id, fence, end } if end == "lost" => {
                self.tried(*id).into_iter().for_each(|tried| tried.retain(|it| it != fence));
            }
            TortureWhat::Finished { id, fence, end } if end == "acknowledged" => {
                self.verdict.acknowledged += 1;
                let Some(tale) = self.of(*id) else { return };
                if tale.acknowledged.replace(*fence).is_some() {
                    let story = format!("{} was acknowledged twice", tale.req);
                    self.broken(Check::Again, *at, story);
                }
            }
            _ => {}
        }
    }

    /// Notes the id of an item. A second id is a breach.
    fn number(&mut self, req: &str, id: u64, at: u64) {
        let Some(tale) = self.tales.get_mut(req) else { return };
        if tale.id.replace(id).is_some_and(|other| other != id) {
            self.broken(Check::Again, at, format!("{req} is in the queue twice"));
        }
        self.ids.insert(id, req.to_owned());
    }

    fn of(&mut self, id: u64) -> Option<&mut ItemTale> {
        self.ids.get(&id).and_then(|req| self.tales.get_mut(req))
    }

    fn tried(&mut self, id: u64) -> Option<&mut BTreeSet<u64>> {
        self.of(id).map(|tale| &mut tale.tried)
    }

    fn change(&mut self, id: u64, fence: u64, change: impl FnMut(&mut ToldDelivery)) {
        let delivery =
            self.of(id).and_then(|tale| tale.deliveries.iter_mut().find(|it| it.fence == fence));
        delivery.into_iter().for_each(change);
    }

    fn broken(&mut self, check: Check, at: u64, story: String) {
        self.found.push(Violation { check, at, story });
    }
}
