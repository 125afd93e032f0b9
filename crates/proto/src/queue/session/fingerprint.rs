//! The part of a session that can still make a difference.

use core::hash::{Hash, Hasher};

use super::{
    Session,
    compose::{DraftEntry, Sent},
    event::Until,
    poppers::Popper,
    work::HeldDelivery,
};
use crate::queue::fingerprint::{View, how_of};

impl Session {
    /// Feeds to `hasher` what decides on everything that the session may still do. Left out are the
    /// numbers of calls and the jitter, which must be too small to be seen at the lens's ticks.
    pub fn fingerprint<H: Hasher>(&self, view: &View<'_>, hasher: &mut H) {
        let own = &view.own;
        let Self { bearings, one_offs, finishes, work, lost_early, sent, events, .. } = self;
        let offset = view.store.now.wrapping_sub(own.now);
        let clock = bearings.clock.map(|(shows, asked, heard)| {
            (shows.wrapping_sub(asked).wrapping_sub(offset), heard - asked)
        });
        (clock, view.store.exact(bearings.not_after), view.seen(bearings.seen)).hash(hasher);
        for one_off in one_offs {
            view.request(&one_off.request, hasher);
            own.exact(one_off.at).hash(hasher);
        }
        finishes.iter().for_each(|delivery| view.delivery(*delivery).hash(hasher));
        lost_early.iter().for_each(|delivery| view.delivery(*delivery).hash(hasher));
        self.poppers_of(view, hasher);
        for (delivery, held) in work.all() {
            (view.delivery(delivery), work.takers.contains_key(&delivery)).hash(hasher);
            held_of(held, view, hasher);
        }
        if let Some(sent) = sent {
            sent_of(sent, view, hasher);
        }
        let Self { pop_due, in_line, look_at, must_settle, retry_at, failures, .. } = self;
        (events.len(), pop_due, in_line, must_settle, failures.min(&7)).hash(hasher);
        own.due(*look_at, hasher);
        own.due(retry_at.filter(|at| *at > own.now), hasher);
    }

    /// The number of its last batch, from which [`View::base`] may count.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.bearings.number
    }

    fn poppers_of<H: Hasher>(&self, view: &View<'_>, hasher: &mut H) {
        for (nth, (id, popper)) in self.poppers.ids().enumerate() {
            let Popper { want, in_hand, is_asked, is_answered, .. } = popper;
            (nth, want.items, want.ttl, want.drains).hash(hasher);
            (in_hand, is_asked, is_answered).hash(hasher);
            (self.poppers.first() == Some(id)).hash(hasher);
            match want.until {
                Until::Answered(until) => {
                    0_u8.hash(hasher);
                    view.own.due(until, hasher);
                }
                Until::Served(until) => view.own.due(until, hasher),
                Until::Unpopped => 1_u8.hash(hasher),
            }
        }
    }
}

fn sent_of<H: Hasher>(sent: &Sent, view: &View<'_>, hasher: &mut H) {
    let Sent { call, batch, entries, first_at, at, over_at, is_doubtful } = sent;
    view.batch(batch, hasher);
    (call.is_some(), is_doubtful, view.own.exact(*first_at), view.own.exact(*at)).hash(hasher);
    view.own.due(Some(*over_at), hasher);
    for entry in entries {
        if let DraftEntry::OneOff(_, at) = entry {
            view.own.exact(*at).hash(hasher);
        }
    }
}

fn held_of<H: Hasher>(held: &HeldDelivery, view: &View<'_>, hasher: &mut H) {
    let HeldDelivery { ttl, until, danger_at, in_danger, renew_at, leaving } = held;
    (ttl, until.map(|until| view.own.exact(until)), view.own.ticks(*danger_at)).hash(hasher);
    in_danger.hash(hasher);
    view.own.due(*renew_at, hasher);
    if let Some(leaving) = leaving {
        how_of(&leaving.how, hasher);
        (leaving.is_told, leaving.is_doubtful).hash(hasher);
        view.own.due(leaving.give_up_at, hasher);
    }
}
