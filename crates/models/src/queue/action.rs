//! The actions that may happen next in the world of a queue.

use seinpaal_proto::Contact;

use super::{
    bounds::{Bounds, PlayedEnd},
    world::{Parcel, Told, World},
};
use crate::{
    bounds::ModelFault,
    traffic::{self, Life, Load},
};

/// One step of a history. Clients are numbers. An item is its place in the order of pushes, and a
/// parcel or a held delivery its place in a list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// The next item is pushed.
    Push,
    /// An item is cancelled.
    Cancel(usize),
    /// A worker wants items.
    Pop(usize),
    /// A worker ends a delivery.
    Finish(usize, usize, PlayedEnd),
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
        self.actions_of_maker(bounds, actions);
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
        parcel.to().is_none_or(|to| self.is_alive(to))
    }

    pub(super) fn is_alive(&self, who: usize) -> bool {
        self.clients[who].life == Life::Alive
    }

    fn actions_of_maker(&self, bounds: &Bounds, actions: &mut Vec<Action>) {
        if !self.is_alive(0) {
            return;
        }
        if self.pushed < bounds.items.len() {
            actions.push(Action::Push);
        }
        if self.cancels_left > 0 {
            let known = self.ghost.items.iter().enumerate();
            let known = known.filter(|(_, tale)| tale.answer == Told::Pushed);
            actions.extend(known.map(|(nth, _)| Action::Cancel(nth)));
        }
    }

    fn actions_of(&self, bounds: &Bounds, who: usize, actions: &mut Vec<Action>) {
        let client = &self.clients[who];
        if client.life == Life::Paused {
            actions.push(Action::Resume(who));
        }
        if client.life == Life::Alive {
            if client.pops_left > 0 && client.pop.is_none() {
                actions.push(Action::Pop(who));
            }
            for nth in 0..client.held.len() {
                actions.push(Action::Finish(who, nth, PlayedEnd::Acknowledge));
                if self.returns_left > 0 {
                    actions.extend(bounds.ends.iter().map(|end| Action::Finish(who, nth, *end)));
                }
            }
            if client.contact == Contact::Silent {
                actions.push(Action::Hear(who));
            }
        }
        if self.faults_left > 0 {
            let faults = bounds.kinds.iter().filter(|fault| self.can_befall(**fault, who));
            actions.extend(faults.map(|fault| Action::Befall(*fault, who)));
        }
    }

    fn can_befall(&self, fault: ModelFault, who: usize) -> bool {
        let client = &self.clients[who];
        let is_used = !client.session.is_idle();
        match fault {
            ModelFault::Break => client.life == Life::Alive && client.call.is_some(),
            ModelFault::Crash | ModelFault::Vanish => client.life != Life::Gone && is_used,
            ModelFault::Pause => client.life == Life::Alive && is_used,
            ModelFault::Deaf => {
                client.life == Life::Alive && is_used && client.contact == Contact::Listening
            }
            ModelFault::Repeat | ModelFault::LoseWakeup | ModelFault::Delay => false,
        }
    }

    fn actions_on(&self, bounds: &Bounds, at: usize, actions: &mut Vec<Action>) {
        let parcel = &self.parcels[at];
        if !self.can_arrive(parcel) {
            return;
        }
        actions.push(Action::Deliver(at));
        let can = |fault: ModelFault| self.faults_left > 0 && bounds.kinds.contains(&fault);
        match parcel.load {
            Load::Request { call: Some(_), .. }
                if can(ModelFault::Repeat) && traffic::copies(&self.parcels) < bounds.copies =>
            {
                actions.push(Action::Mangle(ModelFault::Repeat, at));
            }
            Load::Wakeup { .. } if can(ModelFault::LoseWakeup) => {
                actions.push(Action::Mangle(ModelFault::LoseWakeup, at));
            }
            _ => {}
        }
        if can(ModelFault::Delay) && !parcel.is_late {
            actions.push(Action::Mangle(ModelFault::Delay, at));
        }
    }
}
