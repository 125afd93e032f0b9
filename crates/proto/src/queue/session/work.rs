//! The deliveries in the program's hand: until when to believe in each, when to renew it, and how
//! it ends.

use alloc::collections::{BTreeMap, BTreeSet};

use super::event::PopId;
use crate::{
    queue::{item::Delivery, request::How},
    session::LeaseSchedule,
    time::Micros,
};

/// A delivery in the program's hand, or on its way back.
#[derive(Clone, Debug)]
pub(super) struct HeldDelivery {
    pub(super) ttl: Micros,
    /// The end of the time for which to believe in it; `None`: as long as the process lives.
    pub(super) until: Option<Micros>,
    pub(super) danger_at: Micros,
    pub(super) in_danger: bool,
    pub(super) renew_at: Option<Micros>,
    pub(super) leaving: Option<Leaving>,
}

/// The way in which a delivery is to end.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    pub(super) how: How,
    /// Whether the program was told of the end, so that nobody waits for it any more.
    pub(super) is_told: bool,
    /// Whether an earlier batch may have ended the delivery.
    pub(super) is_doubtful: bool,
    /// A time by which the store has ended the delivery by itself.
    pub(super) give_up_at: Option<Micros>,
}

/// The subject of an alarm.
pub(super) enum Alarm {
    Danger,
    Lost,
    GiveUp,
}

/// All deliveries of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct DeliveriesInHand {
    held: BTreeMap<Delivery, HeldDelivery>,
    alarms: BTreeSet<(Micros, Delivery)>,
    renewals: BTreeSet<(Micros, Delivery)>,
    /// The want for which each was delivered, until the program finishes it.
    pub(super) takers: BTreeMap<Delivery, PopId>,
}

impl HeldDelivery {
    pub(super) fn new(ttl: Micros) -> Self {
        // Nothing is believed yet: the answer of the store says until when the lease lasts.
        Self { ttl, until: Some(0), danger_at: 0, in_danger: false, renew_at: None, leaving: None }
    }

    /// Believes in the delivery for `certain` from `at`, or for as long as the process lives.
    pub(super) fn believe(&mut self, at: Micros, certain: Option<Micros>) {
        self.until = certain.map(|certain| at + certain);
        self.in_danger = false;
        let danger = |certain| at + LeaseSchedule::new(self.ttl, certain).danger();
        self.danger_at = certain.map_or(Micros::MAX, danger);
    }

    pub(super) fn is_over(&self, now: Micros) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    fn alarm_at(&self) -> Option<Micros> {
        match (&self.leaving, self.until) {
            (Some(leaving), _) => leaving.give_up_at,
            (None, Some(until)) if self.in_danger => Some(until),
            (None, Some(_)) => Some(self.danger_at),
            (None, None) => None,
        }
    }

    /// Notes how the delivery is to end. At `give_up_at` its lease has ended even by a slow clock.
    pub(super) fn leave(&mut self, how: How, is_told: bool) {
        let give_up_at = self.until.map(|until| until.saturating_add(self.ttl.saturating_mul(2)));
        self.leaving = Some(Leaving { how, is_told, is_doubtful: false, give_up_at });
        self.renew_at = None;
    }
}

impl DeliveriesInHand {
    pub(super) fn get(&self, delivery: Delivery) -> Option<&HeldDelivery> {
        self.held.get(&delivery)
    }

    pub(super) fn put(&mut self, delivery: Delivery, held: HeldDelivery) {
        self.remove(delivery);
        if let Some(at) = held.alarm_at() {
            self.alarms.insert((at, delivery));
        }
        if let Some(at) = held.renew_at {
            self.renewals.insert((at, delivery));
        }
        self.held.insert(delivery, held);
    }

    pub(super) fn remove(&mut self, delivery: Delivery) -> Option<HeldDelivery> {
        let held = self.held.remove(&delivery)?;
        if let Some(at) = held.alarm_at() {
            self.alarms.remove(&(at, delivery));
        }
        if let Some(at) = held.renew_at {
            self.renewals.remove(&(at, delivery));
        }
        Some(held)
    }

    /// Changes a delivery that is in hand.
    pub(super) fn change(&mut self, delivery: Delivery, change: impl FnOnce(&mut HeldDelivery)) {
        if let Some(mut held) = self.remove(delivery) {
            change(&mut held);
            self.put(delivery, held);
        }
    }

    pub(super) fn renew_at(&mut self, delivery: Delivery, at: Micros) {
        self.change(delivery, |held| {
            if held.leaving.is_none() {
                held.renew_at = Some(at);
            }
        });
    }

    /// Returns the next alarm that has gone off. Danger is noted.
    pub(super) fn ring(&mut self, now: Micros) -> Option<(Delivery, Alarm)> {
        let (_, delivery) = self.alarms.first().copied().filter(|(at, _)| *at <= now)?;
        let held = self.held.get(&delivery)?;
        if held.leaving.is_some() {
            return Some((delivery, Alarm::GiveUp));
        }
        if held.is_over(now) {
            return Some((delivery, Alarm::Lost));
        }
        // From now on the alarm of this delivery is its end.
        self.change(delivery, |held| held.in_danger = true);
        Some((delivery, Alarm::Danger))
    }

    pub(super) fn next_alarm(&self) -> Option<Micros> {
        self.alarms.first().map(|(at, _)| *at)
    }

    pub(super) fn next_renewal(&self) -> Option<Micros> {
        self.renewals.first().map(|(at, _)| *at)
    }

    /// Returns the deliveries to renew now, by ttl. If one is due, those that are nearly due go
    /// along.
    pub(super) fn due(&self, now: Micros) -> BTreeMap<Micros, alloc::vec::Vec<Delivery>> {
        let mut due = BTreeMap::<_, alloc::vec::Vec<_>>::new();
        if self.next_renewal().is_none_or(|at| at > now) {
            return due;
        }
        for &(at, delivery) in &self.renewals {
            let Some(held) = self.held.get(&delivery) else { continue };
            if at <= now + held.ttl / 12 {
                due.entry(held.ttl).or_default().push(delivery);
            }
        }
        due
    }

    pub(super) fn asked_to_renew(&mut self, delivery: Delivery) {
        self.change(delivery, |held| held.renew_at = None);
    }

    /// Returns all deliveries, on their way back or not.
    pub(super) fn all(&self) -> impl Iterator<Item = (Delivery, &HeldDelivery)> {
        self.held.iter().map(|(delivery, held)| (*delivery, held))
    }

    /// Returns the deliveries that are not on their way back.
    pub(super) fn in_hand(&self) -> alloc::vec::Vec<Delivery> {
        let held = self.held.iter().filter(|(_, held)| held.leaving.is_none());
        held.map(|(delivery, _)| *delivery).collect()
    }

    /// Returns the shortest ttl of all deliveries.
    pub(super) fn shortest_ttl(&self) -> Option<Micros> {
        self.held.values().map(|held| held.ttl).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}
