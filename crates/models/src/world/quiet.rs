//! Progress, as a promise with a bound: from any moment on nothing more goes wrong, no limit is
//! pinned any more, and each holder gives back at once. Then every waiter must be served in time,
//! and nothing may be left behind.

use seinpaal_proto::Contact;

use super::{Action, World};
use crate::{
    bounds::{Bounds, ModelFault, Steer},
    traffic::Life,
};

/// The part of progress that failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stuck {
    /// A waiter that can be reached is not served.
    Waits,
    /// A client does not come to rest.
    Busy,
    /// The name still costs something.
    Left,
    /// The store has a lease or a place of a client that wants nothing any more.
    Ghost,
}

impl World {
    /// Runs the quiet schedule. Returns the number of ticks until all clients that are not paused
    /// were served.
    ///
    /// # Errors
    /// The part of progress that was not reached in time.
    pub fn quiet(&self, bounds: &Bounds) -> Result<u64, Stuck> {
        let calm = Bounds { faults: 0, wakeups: 16, ..*bounds };
        let most_ticks = 8 * (bounds.ttl + bounds.place);
        let mut world = self.clone();
        (world.faults_left, world.forward_left, world.backward_left) = (0, 0, 0);
        world.turns_left = 0;
        world.unpin(&calm);
        let ticks = world.run_until(&calm, most_ticks, Self::nobody_waits).ok_or(Stuck::Waits)?;
        world.everybody_goes_on(&calm);
        world.run_until(&calm, most_ticks, Self::nobody_waits).ok_or(Stuck::Waits)?;
        world.run_until(&calm, most_ticks, Self::all_rest).ok_or(Stuck::Busy)?;
        if world.has_ghosts(bounds) {
            return Err(Stuck::Ghost);
        }
        for _ in 0..most_ticks {
            world.look(&calm); // nobody else looks at the lease of a client that is gone
            world.unpin(&calm); // names stay while anybody holds or waits
            if world.ledger.is_empty() {
                return Ok(ticks);
            }
            world.tick_by(&calm);
        }
        Err(Stuck::Left)
    }

    fn unpin(&mut self, calm: &Bounds) {
        if self.ledger.facts().is_some_and(|head| head.pinned.is_some()) {
            self.operate(calm, Steer::Unpin, None);
        }
    }

    fn run_until(
        &mut self,
        bounds: &Bounds,
        most_ticks: u64,
        is_done: fn(&Self) -> bool,
    ) -> Option<u64> {
        for ticks in 0..most_ticks {
            self.settle(bounds);
            if is_done(self) {
                return Some(ticks);
            }
            self.tick_by(bounds);
        }
        None
    }

    /// Lets everything under way arrive, and every holder give back, until nothing happens any
    /// more.
    fn settle(&mut self, bounds: &Bounds) {
        while let Some(action) = self.next_quiet() {
            self.act(bounds, action);
        }
    }

    fn next_quiet(&self) -> Option<Action> {
        let holds = |who: &usize| self.is_alive(*who) && !self.clients[*who].held.is_empty();
        if let Some(who) = (0..self.clients.len()).find(holds) {
            return Some(Action::Release(who, 0));
        }
        let arrives = |at: &usize| self.can_arrive(&self.parcels[*at]);
        (0..self.parcels.len()).find(arrives).map(Action::Deliver)
    }

    fn tick_by(&mut self, bounds: &Bounds) {
        self.act(bounds, Action::Tick);
        self.settle(bounds);
    }

    fn everybody_goes_on(&mut self, bounds: &Bounds) {
        for who in 0..self.clients.len() {
            if self.clients[who].life == Life::Paused {
                self.act(bounds, Action::Resume(who));
            }
            if self.is_alive(who) && self.clients[who].contact == Contact::Silent {
                self.act(bounds, Action::Hear(who));
            }
        }
    }

    fn nobody_waits(&self) -> bool {
        let mut clients = self.clients.iter();
        clients.all(|client| client.life != Life::Alive || client.wanted.is_empty())
    }

    fn all_rest(&self) -> bool {
        self.clients.iter().all(|client| client.life == Life::Gone || client.session.is_idle())
    }

    /// Returns whether the store has a lease or a place of a client that wants nothing. Such a
    /// lease or place keeps others out until it runs out, so a living client must not rest before
    /// the store has confirmed that nothing of it is left. There are two exceptions. Deadlines move
    /// with a store's clock that is set back. After a pause of two ttls the session gives up its
    /// release, and the lease may still be there, because the ledger's clock is slow at a name that
    /// nobody looks at.
    fn has_ghosts(&self, bounds: &Bounds) -> bool {
        let may_pause = bounds.faults > 0 && bounds.kinds.contains(&ModelFault::Pause);
        let is_alive = |who: usize| who < self.clients.len() && self.is_alive(who);
        let mut owners = self.entries().map(|(who, _)| who);
        !self.ghost.was_set_back && !may_pause && owners.any(is_alive)
    }
}
