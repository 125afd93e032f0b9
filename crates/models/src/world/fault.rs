//! The faults, and their effects.

use seinpaal_proto::{Contact, session::CallFailure};

use super::{Action, World};
use crate::{
    bounds::{Bounds, ModelFault},
    traffic::{self, Life, Load},
};

impl World {
    pub(super) fn faults_of(&self, bounds: &Bounds, who: usize, actions: &mut Vec<Action>) {
        let befalls = |fault: &&ModelFault| self.can_befall(**fault, who);
        let faults = bounds.kinds.iter().filter(befalls);
        actions.extend(faults.map(|fault| Action::Befall(*fault, who)));
    }

    fn can_befall(&self, fault: ModelFault, who: usize) -> bool {
        let client = &self.clients[who];
        let is_used =
            !client.held.is_empty() || !client.wanted.is_empty() || !client.calls.is_empty();
        match fault {
            ModelFault::Break => client.life == Life::Alive && !client.calls.is_empty(),
            ModelFault::Crash | ModelFault::Vanish => client.life != Life::Gone && is_used,
            ModelFault::Pause => client.life == Life::Alive && is_used,
            ModelFault::Deaf => {
                client.life == Life::Alive && is_used && client.contact == Contact::Listening
            }
            ModelFault::Repeat | ModelFault::LoseWakeup | ModelFault::Delay => false,
        }
    }

    pub(super) fn faults_on(&self, bounds: &Bounds, at: usize, actions: &mut Vec<Action>) {
        let parcel = &self.parcels[at];
        let may_repeat = traffic::copies(&self.parcels) < bounds.copies;
        let fault = match parcel.load {
            Load::Request { call: Some(_), .. } if may_repeat => ModelFault::Repeat,
            Load::Wakeup { .. } => ModelFault::LoseWakeup,
            _ => ModelFault::Delay,
        };
        for fault in [fault, ModelFault::Delay] {
            let is_new = fault != ModelFault::Delay || !parcel.is_late;
            let action = Action::Mangle(fault, at);
            if is_new && bounds.kinds.contains(&fault) && actions.last() != Some(&action) {
                actions.push(action);
            }
        }
    }

    pub(super) fn befall(&mut self, fault: ModelFault, who: usize) {
        self.faults_left -= 1;
        match fault {
            ModelFault::Break => self.break_calls(who),
            ModelFault::Crash | ModelFault::Vanish => {
                let contact =
                    if fault == ModelFault::Crash { Contact::Silent } else { Contact::Listening };
                self.bury(who, contact);
            }
            ModelFault::Pause => self.clients[who].life = Life::Paused,
            ModelFault::Deaf => {
                self.clients[who].contact = Contact::Silent;
                self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
            }
            ModelFault::Repeat | ModelFault::LoseWakeup | ModelFault::Delay => {}
        }
    }

    pub(super) fn mangle(&mut self, fault: ModelFault, at: usize) {
        self.faults_left -= 1;
        traffic::mangle(&mut self.parcels, fault, at);
    }

    /// Breaks a client's connection, and ends its calls with errors. Requests may still arrive, and
    /// replies are lost.
    pub(super) fn break_calls(&mut self, who: usize) {
        let calls = std::mem::take(&mut self.clients[who].calls);
        if calls.is_empty() {
            return;
        }
        traffic::abandon(&mut self.parcels, who);
        let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
        self.with_session(who, |session, now| {
            calls.iter().for_each(|(call, _)| session.handle_failure(now, *call, failure));
        });
    }

    fn bury(&mut self, who: usize, contact: Contact) {
        traffic::abandon(&mut self.parcels, who);
        self.parcels.retain(|parcel| !parcel.is_wakeup_to(who));
        let client = &mut self.clients[who];
        (client.life, client.contact, client.calls) = (Life::Gone, contact, Vec::new());
        (client.wanted, client.held, client.wants_left) = (Vec::new(), Vec::new(), 0);
    }
}
