//! The actions, and their effects.

use std::sync::Arc;

use seinpaal_proto::{
    Contact, Enqueue, Kind, Permits, Priority, SlotNames, Ticket,
    session::{CallId, Session, Want},
    time::Micros,
};

use super::{Broken, Parcel, World, serve::asks_for};
use crate::{
    bounds::{Bounds, ModelFault, Rule, Steer, TICK},
    traffic::{Life, Load},
};

/// How many ticks a driver waits for an answer.
const CALL: u64 = 3;

/// One step of a history. Clients are numbers, parcels and tickets their places in lists.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// A program wants permits, states this about the limit, and wishes for the slot of this name,
    /// if it names one.
    Want(usize, u32, Rule, &'static str),
    /// A program gives one of its permits back.
    Release(usize, usize),
    /// A program gives up a wait.
    Cancel(usize, usize),
    /// A program wants to become the holder of another client's ticket.
    Attach(usize, Ticket),
    /// A program leaves one of its permits without an owner.
    Detach(usize, usize),
    /// An operator does something, to a ticket or to the name.
    Operate(Steer, Option<Ticket>),
    /// A parcel arrives.
    Deliver(usize),
    /// Time passes.
    Tick,
    /// A paused client goes on.
    Resume(usize),
    /// A client's subscription is back.
    Hear(usize),
    /// The store's clock is set forward.
    Forward,
    /// The store's clock is set back.
    Backward,
    /// A fault that befalls a client.
    Befall(ModelFault, usize),
    /// A fault that befalls a parcel.
    Mangle(ModelFault, usize),
}

impl World {
    /// Lists everything that may happen now.
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
        if self.turns_left > 0 {
            bounds.steers.iter().for_each(|steer| self.actions_to(*steer, actions));
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
        parcel.to().is_none_or(|to| self.is_alive(to))
    }

    fn actions_of(&self, bounds: &Bounds, who: usize, actions: &mut Vec<Action>) {
        let client = &self.clients[who];
        if client.life == Life::Paused {
            actions.push(Action::Resume(who));
        }
        if client.life == Life::Alive {
            if client.wants_left > 0 && client.wanted.len() + client.held.len() < bounds.at_once {
                actions.extend(wants(bounds, who));
            }
            actions.extend((0..client.held.len()).map(|nth| Action::Release(who, nth)));
            actions.extend((0..client.wanted.len()).map(|nth| Action::Cancel(who, nth)));
            if client.contact == Contact::Silent {
                actions.push(Action::Hear(who));
            }
        }
        if self.faults_left > 0 {
            self.faults_of(bounds, who, actions);
        }
    }

    fn actions_on(&self, bounds: &Bounds, at: usize, actions: &mut Vec<Action>) {
        let parcel = &self.parcels[at];
        if !self.can_arrive(parcel) {
            return;
        }
        actions.push(Action::Deliver(at));
        if self.faults_left > 0 {
            self.faults_on(bounds, at, actions);
        }
    }

    pub(super) fn is_alive(&self, who: usize) -> bool {
        self.clients[who].life == Life::Alive
    }

    /// Applies the action to the world.
    pub fn act(&mut self, bounds: &Bounds, action: Action) {
        match action {
            Action::Want(who, permits, rule, slot) => {
                self.want(who, want(permits, rule, slot, bounds), slot);
            }
            Action::Release(who, nth) => {
                let ticket = self.clients[who].held.remove(nth).ticket;
                self.with_session(who, |session, now| session.release(now, ticket, None));
            }
            Action::Cancel(who, nth) => {
                let ticket = self.clients[who].wanted.remove(nth);
                self.with_session(who, |session, now| session.cancel(now, ticket));
            }
            Action::Attach(who, ticket) => self.attach(who, ticket, bounds),
            Action::Detach(who, nth) => self.detach(who, nth),
            Action::Operate(steer, ticket) => self.operate(bounds, steer, ticket),
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
        self.ghost.is_calm &= !action.is_fault();
        self.forget_endings();
        self.ghost.broken = self.ghost.broken.or_else(|| self.misbelief());
    }

    fn want(&mut self, who: usize, want: Want, slot: &'static str) {
        let name = Self::name();
        self.clients[who].wants_left -= 1;
        let session = Arc::make_mut(&mut self.clients[who].session);
        let ticket = session.acquire(self.now, &name, want);
        self.ghost.naming.iter_mut().for_each(|naming| naming.wish(ticket, slot));
        self.clients[who].wanted.push(ticket);
        self.listen(who);
        self.pump(who);
    }

    fn tick(&mut self, bounds: &Bounds) {
        if self.ghost.is_calm && self.is_anybody_untold() {
            self.ghost.broken = Some(Broken::Untold);
        }
        self.now += TICK;
        self.store_now += TICK;
        self.forget(bounds);
        for who in 0..self.clients.len() {
            if self.is_alive(who) {
                self.give_up_calls(who);
                self.pump(who);
            }
        }
    }

    /// Gives up calls that a driver has waited for too long.
    fn give_up_calls(&mut self, who: usize) {
        let over = |(_, since): &(CallId, Micros)| since + CALL * TICK <= self.now;
        if self.clients[who].calls.iter().any(over) {
            self.break_calls(who);
        }
    }

    fn deliver(&mut self, bounds: &Bounds, at: usize) {
        match self.parcels.swap_remove(at).load {
            Load::Request { from, call, batch } => self.serve(bounds, from, call, &batch),
            Load::Replies { to, call, replies } => {
                self.clients[to].calls.retain(|(waited_for, _)| *waited_for != call);
                let mut replies = Arc::unwrap_or_clone(replies);
                bounds.plant.inspect(|plant| plant.replies(bounds, &mut replies));
                self.with_session(to, |session, now| session.handle_replies(now, call, replies));
            }
            Load::Wakeup { to, wakeup } => {
                let wakeup = Arc::unwrap_or_clone(wakeup);
                self.with_session(to, |session, now| session.handle_wakeup(now, wakeup));
            }
        }
    }

    pub(super) fn with_session(&mut self, who: usize, change: impl FnOnce(&mut Session, Micros)) {
        change(Arc::make_mut(&mut self.clients[who].session), self.now);
        self.listen(who);
        self.pump(who);
    }

    /// Plays the client's driver: it fires timers, sends calls and takes events.
    pub(super) fn pump(&mut self, who: usize) {
        let now = self.now;
        if self.clients[who].session.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        let client = &mut self.clients[who];
        let session = Arc::make_mut(&mut client.session);
        session.handle_timeout(now);
        while let Some(call) = session.poll_call(now) {
            client.calls.push((call.id, now));
            let (call, batch) = (Some(call.id), Arc::new(call.batch));
            self.parcels.push(Parcel::new(Load::Request { from: who, call, batch }));
        }
        self.listen(who);
    }
}

impl Action {
    fn is_fault(self) -> bool {
        matches!(self, Self::Forward | Self::Backward | Self::Befall(..) | Self::Mangle(..))
    }
}

/// Returns whether a parcel asks the store for permits under this ticket.
pub(super) fn asks_for_permits(parcel: &Parcel, ticket: Ticket) -> bool {
    matches!(&parcel.load, Load::Request { batch, .. } if asks_for(batch, ticket))
}

fn wants(bounds: &Bounds, who: usize) -> Vec<Action> {
    let mut all = Vec::new();
    for weight in bounds.weights {
        for rule in bounds.stated() {
            let of = |slot: &&'static str| Action::Want(who, *weight, rule, slot);
            all.extend(bounds.wished().iter().map(of));
        }
    }
    all
}

pub(super) fn want(permits: u32, rule: Rule, slot: &str, bounds: &Bounds) -> Want {
    Want {
        kind: Kind::Semaphore,
        permits: Permits::new(permits).unwrap_or(Permits::ONE),
        wishes: slot.parse().unwrap_or_else(|_| SlotNames::none()),
        limit: rule.to_request(),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: bounds.ttl(),
        deadline: None,
        about: "".into(),
    }
}
