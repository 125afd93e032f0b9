//! What each action does to the world.

use std::sync::Arc;

use seinpaal_proto::{
    Contact, Name, Priority,
    queue::{
        Due, FailureReason, How, ItemId, Push, Request, What,
        session::{Session, Until, Want},
    },
    session::CallFailure,
    time::Micros,
};

use super::{
    action::Action,
    bounds::{Bounds, LATER, PlayedEnd, Spec},
    broken::Broken,
    plant::Plant,
    world::{ItemInProgram, ModelRequest, Parcel, World},
};
use crate::{
    bounds::{ModelFault, TICK},
    traffic::{self, Life, Load},
};

/// How many ticks a driver waits for an answer.
const CALL: u64 = 3;

impl World {
    /// Does the action.
    pub fn act(&mut self, bounds: &Bounds, action: Action) {
        match action {
            Action::Push => self.push(bounds),
            Action::Cancel(nth) => self.cancel(nth),
            Action::Pop(who) => self.pop(bounds, who),
            Action::Finish(who, nth, end) => self.finish(who, nth, end),
            Action::Deliver(at) => self.deliver(bounds, at),
            Action::Tick => self.tick(),
            Action::Resume(who) => {
                self.clients[who].life = Life::Alive;
                self.with_session(who, |_, _| {});
            }
            Action::Hear(who) => {
                self.clients[who].contact = Contact::Listening;
                self.with_session(who, Session::look_again);
            }
            Action::Forward => {
                (self.forward_left, self.ghost.is_slow) = (self.forward_left - 1, true);
                self.store_now += bounds.clock_step * TICK;
            }
            Action::Backward => {
                (self.backward_left, self.ghost.is_slow) = (self.backward_left - 1, true);
                self.ghost.was_set_back = true;
                self.store_now -= bounds.clock_step * TICK;
            }
            Action::Befall(fault, who) => self.befall(fault, who),
            Action::Mangle(fault, at) => self.mangle(fault, at),
        }
        if self.believes_wrongly() {
            self.ghost.broken = self.ghost.broken.or(Some(Broken::Believed));
        }
    }

    fn push(&mut self, bounds: &Bounds) {
        let nth = self.pushed;
        self.pushed += 1;
        let request = Request::Push(item(nth, &bounds.items[nth]));
        self.one_off(ModelRequest::Push(nth), request);
    }

    fn cancel(&mut self, nth: usize) {
        self.cancels_left -= 1;
        let id = self.ghost.items[nth].id.map_or(ItemId(0), ItemId);
        self.one_off(ModelRequest::Cancel(nth), Request::Cancel { id, spares_work: false });
    }

    fn one_off(&mut self, asked: ModelRequest, request: Request) {
        let one_off = Arc::make_mut(&mut self.clients[0].session).one_off(self.now, request);
        self.clients[0].one_offs.push((one_off, asked));
        self.with_session(0, |_, _| {});
    }

    pub(super) fn pop(&mut self, bounds: &Bounds, who: usize) {
        let until = if bounds.goes_on { Until::Unpopped } else { Until::Served(None) };
        let (items, ttl, about) = (bounds.at_once, bounds.ttl(), String::new());
        let want = Want { items, ttl, until, drains: false, about };
        let client = &mut self.clients[who];
        client.pops_left = client.pops_left.saturating_sub(1);
        client.pop = Some(Arc::make_mut(&mut client.session).pop(want));
        self.with_session(who, |_, _| {});
    }

    fn finish(&mut self, who: usize, nth: usize, end: PlayedEnd) {
        let held = self.clients[who].held.remove(nth);
        self.returns_left -= u8::from(end != PlayedEnd::Acknowledge);
        self.with_session(who, |session, _| session.finish(held.delivery, how(end)));
    }

    pub(super) fn tick(&mut self) {
        self.now += TICK;
        self.store_now += TICK;
        for who in 0..self.clients.len() {
            if self.is_alive(who) {
                let is_over = |since: Micros| since + CALL * TICK <= self.now;
                if self.clients[who].call.is_some_and(|(_, since)| is_over(since)) {
                    self.break_call(who);
                }
                self.pump(who);
            }
        }
    }

    fn deliver(&mut self, bounds: &Bounds, at: usize) {
        match self.parcels.swap_remove(at).load {
            Load::Request { from, call, batch } => self.serve(bounds, from, call, &batch),
            Load::Replies { to, call, replies } => {
                self.clients[to].call = None;
                let replies = Arc::unwrap_or_clone(replies);
                self.with_session(to, |session, now| session.handle_replies(now, call, replies));
            }
            Load::Wakeup { to, wakeup } => {
                let what = wakeup.what;
                if !(matches!(what, What::Lost(_)) && bounds.plant == Some(Plant::LossIgnored)) {
                    self.with_session(to, |session, now| session.handle_wakeup(now, &wakeup));
                }
                let is_held = |held: &ItemInProgram| What::Lost(held.delivery) == what;
                if self.clients[to].held.iter().any(is_held) {
                    self.ghost.broken = self.ghost.broken.or(Some(Broken::Believed));
                }
            }
        }
    }

    fn befall(&mut self, fault: ModelFault, who: usize) {
        self.faults_left -= 1;
        let watch = self.ledger.facts().and_then(|head| head.watch);
        let goes_only = matches!(fault, ModelFault::Crash | ModelFault::Vanish);
        // A request of a dead client may still put it in line.
        let has_sent =
            |parcel: &Parcel| matches!(parcel.load, Load::Request { from, .. } if from == who);
        let is_counted_on =
            watch == Some(self.clients[who].inbox) || self.parcels.iter().any(has_sent);
        self.ghost.is_slow |= !goes_only || is_counted_on;
        match fault {
            ModelFault::Break => self.break_call(who),
            ModelFault::Crash => self.bury(who, Contact::Silent),
            ModelFault::Vanish => self.bury(who, Contact::Listening),
            ModelFault::Pause => self.clients[who].life = Life::Paused,
            ModelFault::Deaf => {
                self.clients[who].contact = Contact::Silent;
                self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
            }
            ModelFault::Repeat | ModelFault::LoseWakeup | ModelFault::Delay => {}
        }
    }

    fn mangle(&mut self, fault: ModelFault, at: usize) {
        self.faults_left -= 1;
        self.ghost.is_slow = true;
        traffic::mangle(&mut self.parcels, fault, at);
    }

    /// Ends a client's call with an error. The request may still arrive, and a reply is lost.
    fn break_call(&mut self, who: usize) {
        let Some((call, _)) = self.clients[who].call.take() else { return };
        traffic::abandon(&mut self.parcels, who);
        let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
        self.with_session(who, |session, now| session.handle_failure(now, call, failure));
    }

    fn bury(&mut self, who: usize, contact: Contact) {
        traffic::abandon(&mut self.parcels, who);
        self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
        let client = &mut self.clients[who];
        (client.life, client.contact, client.call) = (Life::Gone, contact, None);
        (client.one_offs, client.held) = (Vec::new(), Vec::new());
        (client.pop, client.pops_left) = (None, 0);
    }

    pub(super) fn with_session(&mut self, who: usize, change: impl FnOnce(&mut Session, Micros)) {
        change(Arc::make_mut(&mut self.clients[who].session), self.now);
        self.listen(who);
        self.pump(who);
    }

    /// Does what a driver does: timers, calls, events.
    fn pump(&mut self, who: usize) {
        let now = self.now;
        if self.clients[who].session.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        let client = &mut self.clients[who];
        let session = Arc::make_mut(&mut client.session);
        session.handle_timeout(now);
        while let Some(call) = session.poll_call(now) {
            client.call = Some((call.id, now));
            let (call, batch) = (Some(call.id), call.batch);
            self.parcels.push(Parcel::new(Load::Request { from: who, call, batch }));
        }
        self.listen(who);
    }
}

fn how(end: PlayedEnd) -> How {
    let reason = FailureReason::default();
    match end {
        PlayedEnd::Acknowledge => How::Acknowledge,
        PlayedEnd::GiveBack => How::GiveBack { delay: 0 },
        PlayedEnd::GiveBackLater => How::GiveBack { delay: LATER * TICK },
        PlayedEnd::Fail => How::Fail { delay: 0, reason },
        PlayedEnd::FailLater => How::Fail { delay: LATER * TICK, reason },
    }
}

fn item(nth: usize, spec: &Spec) -> Push {
    Push {
        payload: Vec::new(),
        priority: Priority::new(i32::from(spec.priority)).unwrap_or_default(),
        due: if spec.delay == 0 { Due::Now } else { Due::In(spec.delay * TICK) },
        group: spec.group.and_then(|group| Name::new(group).ok()),
        dedup: None,
        most: spec.most,
        about: nth.to_string(),
    }
}
