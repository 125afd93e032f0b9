//! What a history tells of each item.

use std::collections::BTreeMap;

use super::verdict::Verdict;
use crate::{
    check::{Check, Violation},
    history::{Event, What},
};

/// An item, as it was told.
#[derive(Debug, Default)]
pub(super) struct Tale {
    pub(super) req: String,
    pub(super) group: Option<String>,
    pub(super) asked: u64,
    pub(super) due: u64,
    pub(super) pushed: Option<u64>,
    pub(super) id: Option<u64>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) acknowledged: Option<u64>,
    pub(super) may_be_done: bool,
    pub(super) is_dead: bool,
}

/// A delivery that reached a program.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) fence: u64,
    pub(super) at: u64,
    pub(super) until: u64,
    pub(super) who: String,
}

/// Tells each item of a history. Puts contradictions into `found`.
pub(super) fn tell(
    events: &[Event],
    verdict: &mut Verdict,
    found: &mut Vec<Violation>,
) -> BTreeMap<String, Tale> {
    let mut tales: BTreeMap<String, Tale> = BTreeMap::new();
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    for Event { at, who, what } in events {
        let at = *at;
        let mut broken = |check, story| found.push(Violation { check, at, story });
        match what {
            What::Push { req, delay, group } => {
                let (due, group, req) = (at + delay, group.clone(), req.clone());
                let tale = Tale { req: req.clone(), group, asked: at, due, ..Tale::default() };
                tales.insert(req, tale);
            }
            What::Pushed { req, id } => {
                verdict.pushed += 1;
                let Some(tale) = tales.get_mut(req) else { continue };
                tale.pushed = Some(at);
                if tale.id.replace(*id).is_some_and(|other| other != *id) {
                    broken(Check::Again, format!("{req} is in the queue twice"));
                }
                ids.insert(*id, req.clone());
            }
            What::NotPushed { req, maybe: false, .. }
                if tales.get(req).is_some_and(|tale| tale.id.is_some()) =>
            {
                broken(Check::Again, format!("{req} was not pushed, and is delivered"));
            }
            What::Delivered { payload, id, fence, until, .. } => {
                verdict.deliveries += 1;
                let Some(tale) = tales.get_mut(payload) else { continue };
                if tale.id.replace(*id).is_some_and(|other| other != *id) {
                    broken(Check::Again, format!("{payload} is in the queue twice"));
                }
                ids.insert(*id, payload.clone());
                let until = until.unwrap_or(u64::MAX);
                tale.deliveries.push(Delivery { fence: *fence, at, until, who: who.clone() });
            }
            What::InHand { id, fence, until } => {
                let until = until.unwrap_or(u64::MAX);
                // A worker that was stopped past its lease learns on waking that the lease has
                // ended. So its belief ended with the lease, and not with this note.
                let told = |it: &mut Delivery| {
                    it.until = if until > at { until } else { it.until.min(at) };
                };
                each(&mut tales, &ids, *id, *fence, told);
            }
            What::ItemLost { id, fence } => {
                verdict.lost += 1;
                each(&mut tales, &ids, *id, *fence, |it| it.until = it.until.min(at));
            }
            What::Finishing { id, fence, how } => {
                each(&mut tales, &ids, *id, *fence, |it| it.until = it.until.min(at));
                let tale = ids.get(id).and_then(|req| tales.get_mut(req));
                tale.into_iter().for_each(|tale| tale.may_be_done |= how == "acknowledge");
            }
            What::Finished { id, fence, end } if end == "acknowledged" => {
                verdict.acknowledged += 1;
                let Some(tale) = ids.get(id).and_then(|req| tales.get_mut(req)) else { continue };
                if tale.acknowledged.replace(*fence).is_some() {
                    broken(Check::Again, format!("{} was acknowledged twice", tale.req));
                }
            }
            What::DeadLetter { id } => {
                verdict.dead += 1;
                let tale = ids.get(id).and_then(|req| tales.get_mut(req));
                tale.into_iter().for_each(|tale| tale.is_dead = true);
            }
            What::Killing { life } => {
                let held = tales.values_mut().flat_map(|tale| &mut tale.deliveries);
                held.filter(|it| it.who == *life).for_each(|it| it.until = it.until.min(at));
            }
            What::StillDelayed { id } => {
                let tale = ids.get(id).and_then(|req| tales.get_mut(req));
                tale.into_iter().for_each(|tale| tale.may_be_done = true);
            }
            What::QueueLeft { ready, delayed, in_work } if ready + delayed + in_work > 0 => {
                broken(
                    Check::Left,
                    format!("{ready} items ready, {delayed} delayed, {in_work} in work"),
                );
            }
            What::Kept { what_is_kept } => broken(Check::Left, format!("{what_is_kept} is kept")),
            What::Hangs { what_hangs } => broken(Check::Hang, what_hangs.clone()),
            What::FaultBegins { fault, .. } => {
                *verdict.faults.entry(fault.clone()).or_default() += 1;
            }
            _ => {}
        }
    }
    tales
}

fn each(
    tales: &mut BTreeMap<String, Tale>,
    ids: &BTreeMap<u64, String>,
    id: u64,
    fence: u64,
    change: impl FnMut(&mut Delivery),
) {
    let tale = ids.get(&id).and_then(|req| tales.get_mut(req));
    let delivery = tale.and_then(|tale| tale.deliveries.iter_mut().find(|it| it.fence == fence));
    delivery.into_iter().for_each(change);
}
