//! What may happen next, and what it does.

use std::sync::Arc;

use seinpaal_proto::{
    Contact, Enqueue, Kind, Limit, LimitRule, OnMismatch, Permits, Priority,
    session::{Event, Failure, Session, Wish},
};

use super::{Broken, Held, Life, Load, Parcel, World};
use crate::bounds::{Bounds, Fault, TICK};

/// How many ticks a driver waits for an answer.
const CALL: u64 = 3;

/// One step of a history. Clients are numbers, parcels and tickets their places in lists.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// A program wants permits.
    Want(usize, u32),
    /// A program gives one of its permits back.
    Release(usize, usize),
    /// A program does not want to wait any more.
    Cancel(usize, usize),
    /// What is under way arrives.
    Deliver(usize),
    /// Time passes.
    Tick,
    /// A paused client goes on.
    Resume(usize),
    /// A subscription is back.
    Hear(usize),
    /// The store's clock is set forward.
    Forward,
    /// The store's clock is set back.
    Backward,
    /// A fault that befalls a client.
    Befall(Fault, usize),
    /// A fault that befalls a parcel.
    Mangle(Fault, usize),
}

impl World {
    /// Everything that may happen now.
    pub fn actions(&self, bounds: &Bounds, actions: &mut Vec<Action>) {
        if self.ghost.broken.is_some() {
            return;
        }
        for who in 0..self.clients.len() {
            self.actions_of(bounds, who, actions);
        }
        for at in 0..self.parcels.len() {
            self.actions_on(bounds, at, actions);
        }
        if self.forward_left > 0 {
            actions.push(Action::Forward);
        }
        if self.backward_left > 0 {
            actions.push(Action::Backward);
        }
        if !self.parcels.iter().any(|parcel| !parcel.is_late && self.can_arrive(parcel)) {
            actions.push(Action::Tick);
        }
    }

    pub(super) fn can_arrive(&self, parcel: &Parcel) -> bool {
        match parcel.load {
            Load::Request { .. } => true,
            Load::Replies { to, .. } | Load::Wakeup { to, .. } => self.is_alive(to),
        }
    }

    fn actions_of(&self, bounds: &Bounds, who: usize, actions: &mut Vec<Action>) {
        let client = &self.clients[who];
        if client.life == Life::Paused {
            actions.push(Action::Resume(who));
        }
        if client.life == Life::Alive {
            if client.wishes_left > 0 && client.wanted.len() + client.held.len() < bounds.at_once {
                actions.extend(bounds.weights.iter().map(|weight| Action::Want(who, *weight)));
            }
            actions.extend((0..client.held.len()).map(|nth| Action::Release(who, nth)));
            actions.extend((0..client.wanted.len()).map(|nth| Action::Cancel(who, nth)));
            if client.contact == Contact::Silent {
                actions.push(Action::Hear(who));
            }
        }
        if self.faults_left > 0 {
            let befalls = |fault: &&Fault| self.can_befall(**fault, who);
            let faults = bounds.kinds.iter().filter(befalls);
            actions.extend(faults.map(|fault| Action::Befall(*fault, who)));
        }
    }

    fn can_befall(&self, fault: Fault, who: usize) -> bool {
        let client = &self.clients[who];
        let is_used = !client.held.is_empty() || !client.wanted.is_empty() || client.call.is_some();
        match fault {
            Fault::Break => client.life == Life::Alive && client.call.is_some(),
            Fault::Crash | Fault::Vanish => client.life != Life::Gone && is_used,
            Fault::Pause => client.life == Life::Alive && is_used,
            Fault::Deaf => {
                client.life == Life::Alive && is_used && client.contact == Contact::Listening
            }
            Fault::Repeat | Fault::LoseWakeup | Fault::Delay => false,
        }
    }

    fn actions_on(&self, bounds: &Bounds, at: usize, actions: &mut Vec<Action>) {
        let parcel = &self.parcels[at];
        if !self.can_arrive(parcel) {
            return;
        }
        actions.push(Action::Deliver(at));
        let fault = match parcel.load {
            Load::Request { call: Some(_), .. } if self.copies() < bounds.copies => Fault::Repeat,
            Load::Wakeup { .. } => Fault::LoseWakeup,
            _ => Fault::Delay,
        };
        for fault in [fault, Fault::Delay] {
            let is_new = fault != Fault::Delay || !parcel.is_late;
            let action = Action::Mangle(fault, at);
            if is_new
                && self.faults_left > 0
                && bounds.kinds.contains(&fault)
                && actions.last() != Some(&action)
            {
                actions.push(action);
            }
        }
    }

    pub(super) fn is_alive(&self, who: usize) -> bool {
        self.clients[who].life == Life::Alive
    }

    fn copies(&self) -> usize {
        let is_copy = |parcel: &&Parcel| matches!(parcel.load, Load::Request { call: None, .. });
        self.parcels.iter().filter(is_copy).count()
    }

    /// Does it.
    pub fn act(&mut self, bounds: &Bounds, action: Action) {
        match action {
            Action::Want(who, permits) => self.want(bounds, who, permits),
            Action::Release(who, nth) => {
                let ticket = self.clients[who].held.remove(nth).ticket;
                self.with_session(who, |session, now| session.release(now, ticket, None));
            }
            Action::Cancel(who, nth) => {
                let ticket = self.clients[who].wanted.remove(nth);
                self.with_session(who, |session, now| session.cancel(now, ticket));
            }
            Action::Deliver(at) => self.deliver(bounds, at),
            Action::Tick => self.tick(bounds),
            Action::Resume(who) => {
                self.clients[who].life = Life::Alive;
                self.with_session(who, |_, _| {});
            }
            Action::Hear(who) => {
                self.clients[who].contact = Contact::Listening;
                self.with_session(who, Session::look_again);
            }
            Action::Forward => {
                self.forward_left -= 1;
                self.store_now += bounds.clock_step * TICK;
            }
            Action::Backward => {
                self.backward_left -= 1;
                self.ghost.was_set_back = true;
                self.store_now -= bounds.clock_step * TICK;
            }
            Action::Befall(fault, who) => self.befall(fault, who),
            Action::Mangle(fault, at) => self.mangle(fault, at),
        }
        if self.believed() > bounds.limit {
            self.ghost.broken = Some(Broken::Believed);
        }
    }

    fn want(&mut self, bounds: &Bounds, who: usize, permits: u32) {
        let wish = wish(permits, bounds);
        let name = Self::name();
        self.clients[who].wishes_left -= 1;
        let session = Arc::make_mut(&mut self.clients[who].session);
        let ticket = session.acquire(self.now, &name, wish);
        self.clients[who].wanted.push(ticket);
        self.listen(who);
        self.pump(who);
    }

    fn tick(&mut self, bounds: &Bounds) {
        self.now += TICK;
        self.store_now += TICK;
        self.forget(bounds);
        for who in 0..self.clients.len() {
            if self.is_alive(who) {
                self.give_up_call(who);
                self.pump(who);
            }
        }
    }

    /// Drivers wait for an answer only so long.
    fn give_up_call(&mut self, who: usize) {
        if self.clients[who].call.is_some_and(|(_, since)| since + CALL * TICK <= self.now) {
            self.break_call(who);
        }
    }

    fn deliver(&mut self, bounds: &Bounds, at: usize) {
        match self.parcels.swap_remove(at).load {
            Load::Request { from, call, batch } => self.serve(bounds, from, call, &batch),
            Load::Replies { to, call, replies } => {
                let since = self.clients[to].call.take().map_or(self.now, |(_, since)| since);
                let mut replies = Arc::unwrap_or_clone(replies);
                bounds.plant.inspect(|plant| plant.replies(bounds, self.now - since, &mut replies));
                self.with_session(to, |session, now| session.handle_replies(now, call, replies));
            }
            Load::Wakeup { to, wakeup } => {
                let wakeup = Arc::unwrap_or_clone(wakeup);
                self.with_session(to, |session, now| session.handle_wakeup(now, wakeup));
            }
        }
    }

    fn befall(&mut self, fault: Fault, who: usize) {
        self.faults_left -= 1;
        match fault {
            Fault::Break => self.break_call(who),
            Fault::Crash | Fault::Vanish => {
                let contact =
                    if fault == Fault::Crash { Contact::Silent } else { Contact::Listening };
                self.bury(who, contact);
            }
            Fault::Pause => self.clients[who].life = Life::Paused,
            Fault::Deaf => {
                self.clients[who].contact = Contact::Silent;
                self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
            }
            Fault::Repeat | Fault::LoseWakeup | Fault::Delay => {}
        }
    }

    fn mangle(&mut self, fault: Fault, at: usize) {
        self.faults_left -= 1;
        let parcel = &mut self.parcels[at];
        match (fault, &parcel.load) {
            (Fault::Delay, _) => parcel.is_late = true,
            (Fault::Repeat, Load::Request { from, batch, .. }) => {
                let load = Load::Request { from: *from, call: None, batch: Arc::clone(batch) };
                self.parcels.push(Parcel { is_late: true, load });
            }
            _ => drop(self.parcels.swap_remove(at)),
        }
    }

    /// The client learns that its call failed. The request may still arrive; a reply is lost.
    fn break_call(&mut self, who: usize) {
        let Some((call, _)) = self.clients[who].call.take() else { return };
        self.abandon(who);
        let failure = Failure { maybe_executed: true, is_passing: true };
        self.with_session(who, |session, now| session.handle_failure(now, call, failure));
    }

    fn abandon(&mut self, who: usize) {
        let is_reply = |load: &Load| matches!(load, Load::Replies { to, .. } if *to == who);
        self.parcels.retain(|parcel| !is_reply(&parcel.load));
        for parcel in &mut self.parcels {
            if let Load::Request { from, call, .. } = &mut parcel.load
                && *from == who
            {
                (*call, parcel.is_late) = (None, true);
            }
        }
    }

    fn bury(&mut self, who: usize, contact: Contact) {
        self.abandon(who);
        self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
        let client = &mut self.clients[who];
        (client.life, client.contact, client.call) = (Life::Gone, contact, None);
        (client.wanted, client.held, client.wishes_left) = (Vec::new(), Vec::new(), 0);
    }

    pub(super) fn with_session(
        &mut self,
        who: usize,
        change: impl FnOnce(&mut Session, seinpaal_proto::time::Micros),
    ) {
        change(Arc::make_mut(&mut self.clients[who].session), self.now);
        self.listen(who);
        self.pump(who);
    }

    /// What a driver does: timers, calls, events.
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
            let (call, batch) = (Some(call.id), Arc::new(call.batch));
            self.parcels.push(Parcel::new(Load::Request { from: who, call, batch }));
        }
        self.listen(who);
    }

    fn listen(&mut self, who: usize) {
        while let Some(event) = Arc::make_mut(&mut self.clients[who].session).poll_event() {
            self.hear(who, event);
        }
    }

    fn hear(&mut self, who: usize, event: Event) {
        let now = self.now;
        let client = &mut self.clients[who];
        match event {
            Event::Acquired { ticket, slots, valid_until, .. } => {
                if let Some(at) = client.wanted.iter().position(|wanted| *wanted == ticket) {
                    client.wanted.remove(at);
                    client.held.push(Held { ticket, permits: slots.count(), until: valid_until });
                } else {
                    Arc::make_mut(&mut client.session).release(now, ticket, None);
                }
            }
            Event::Renewed { ticket, valid_until } => {
                let held = client.held.iter_mut().find(|held| held.ticket == ticket);
                held.into_iter().for_each(|held| held.until = valid_until);
            }
            Event::Lost { ticket, .. } => client.held.retain(|held| held.ticket != ticket),
            Event::Refused { ticket, .. } => client.wanted.retain(|wanted| *wanted != ticket),
            _ => {}
        }
    }
}

impl Parcel {
    pub(super) fn new(load: Load) -> Self {
        Self { is_late: false, load }
    }

    fn is_wakeup_to(&self, who: usize) -> bool {
        matches!(self.load, Load::Wakeup { to, .. } if to == who)
    }
}

fn wish(permits: u32, bounds: &Bounds) -> Wish {
    let limit = Limit::new(bounds.limit).unwrap_or(Limit::ONE);
    Wish {
        kind: Kind::Semaphore,
        permits: Permits::new(permits).unwrap_or(Permits::ONE),
        limit: Some(LimitRule { limit, on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: bounds.ttl(),
        deadline: None,
        about: String::new(),
    }
}
