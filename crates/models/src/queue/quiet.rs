//! Progress, as something to be done within a bound: from any moment on nothing more goes wrong,
//! workers acknowledge at once, and then every item reaches one and nothing is left behind.

use seinpaal_proto::{
    Contact,
    queue::{PLACE_TTL, Purge, Request, Standing, WorkerCall},
};

use super::{
    action::Action,
    bounds::{Bounds, PlayedEnd},
    broken::Broken,
    world::{Client, Fate, Told, World},
};
use crate::{bounds::TICK, traffic::Life};

/// How long, in ticks, until an idle worker looks without a call, and the next worker is called.
const LOOK: u64 = PLACE_TTL / 3 / TICK + 4;
/// How long, in ticks, until what is under way has arrived, and the store has looked at what falls
/// due.
const PROMPT: u64 = 4;

/// What did not come about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stuck {
    /// An item did not reach an idle worker in time, although nothing was lost that would have
    /// called the worker.
    Late,
    /// An item did not reach an idle worker by the time at which the worker looks without a call.
    Waits,
    /// An item did not reach an idle worker where every wakeup is lost from then on.
    Unheard,
    /// A client does not come to rest.
    Busy,
    /// The queue still costs something.
    Left,
    /// A rule was broken after all.
    Broken(Broken),
    /// An item that was said to be in the queue has come to no end.
    Forgotten,
}

impl World {
    /// Runs the quiet schedule, once with wakeups and once without any. Returns after how many
    /// ticks all items were done.
    ///
    /// # Errors
    /// What did not come about in time.
    pub fn quiet(&self, bounds: &Bounds) -> Result<u64, Stuck> {
        let calm = Bounds { faults: 0, wakeups: 16, ..*bounds };
        let base = 2 * bounds.ttl + bounds.patience() / TICK + bounds.longest_delay() + PROMPT;
        let (most, stuck) = match self.is_slow() {
            true => (base + LOOK, Stuck::Waits),
            false => (base, Stuck::Late),
        };
        let mut world = self.calmed(&calm);
        let ticks = world.run_until(&calm, most, Self::all_done).ok_or(stuck)?;
        world.come_to_rest(&calm, base + LOOK)?;
        let deaf = Bounds { wakeups: 0, ..calm };
        let mut world = self.calmed(&deaf);
        world.parcels.retain(|parcel| !parcel.is_wakeup());
        world.run_until(&deaf, base + 2 * LOOK, Self::all_done).ok_or(Stuck::Unheard)?;
        Ok(ticks)
    }

    /// Returns the world from which nothing goes wrong any more, and somebody works.
    fn calmed(&self, bounds: &Bounds) -> Self {
        let mut world = self.clone();
        (world.faults_left, world.forward_left, world.backward_left) = (0, 0, 0);
        if !(1..world.clients.len()).any(|who| world.is_alive(who)) {
            let late = Client::new(world.clients.len(), bounds, world.now);
            world.clients.push(late);
        }
        for who in 1..world.clients.len() {
            if world.is_alive(who) && world.clients[who].pop.is_none() {
                world.pop(bounds, who);
            }
        }
        world
    }

    /// Lets everybody come back and want nothing any more, until the leases of dead workers have
    /// run out.
    fn come_to_rest(&mut self, bounds: &Bounds, most: u64) -> Result<(), Stuck> {
        self.everybody_goes_on(bounds);
        self.run_until(bounds, most, Self::all_done).ok_or(Stuck::Waits)?;
        for who in 0..self.clients.len() {
            if let Some(pop) = self.clients[who].pop.take() {
                self.with_session(who, |session, _| session.unpop(pop));
            }
        }
        self.run_until(bounds, most, Self::all_rest).ok_or(Stuck::Busy)?;
        self.broken().map_or(Ok(()), |broken| Err(Stuck::Broken(broken)))?;
        let is_open = |tale: &super::world::ItemFate| {
            tale.answer == Told::Pushed && matches!(tale.fate, Fate::There | Fate::Unpushed)
        };
        if self.ghost.items.iter().any(is_open) {
            return Err(Stuck::Forgotten);
        }
        self.is_left(bounds)
    }

    fn is_left(&mut self, bounds: &Bounds) -> Result<(), Stuck> {
        self.ask_aside(bounds, vec![Request::Purge(Purge::Dead)]);
        self.configure(bounds, None, None);
        for _ in 0..3 {
            (self.now, self.store_now) = (self.now + PLACE_TTL, self.store_now + PLACE_TTL);
            self.ask_aside(bounds, Vec::new());
        }
        if self.ledger.is_empty() { Ok(()) } else { Err(Stuck::Left) }
    }

    fn run_until(&mut self, bounds: &Bounds, most: u64, is_done: fn(&Self) -> bool) -> Option<u64> {
        for ticks in 0..=most {
            self.settle(bounds);
            if is_done(self) {
                return Some(ticks);
            }
            if !self.is_slow() && bounds.wakeups > 0 && self.is_overdue() {
                return None;
            }
            self.tick();
        }
        None
    }

    /// Returns whether the ledger counts on a client that does not listen, or something was lost.
    /// Items then wait until the next worker in line looks without a call.
    fn is_slow(&self) -> bool {
        let is_gone = |inbox| {
            let client = self.clients.iter().find(|client| client.inbox == inbox);
            client.is_none_or(|client| client.life != Life::Alive)
        };
        let mut line = self.ledger.workers().filter(|(_, call)| *call == WorkerCall::InLine);
        self.ghost.is_slow || line.any(|(inbox, _)| is_gone(inbox))
    }

    /// An item fell due a while ago, and nobody has looked.
    fn is_overdue(&self) -> bool {
        let has_slept = |due: u64| due + PROMPT * TICK < self.store_now;
        self.ledger
            .all_items()
            .any(|item| matches!(item.standing, Standing::Delayed { due } if has_slept(due)))
    }

    /// Lets everything under way arrive, and acknowledges every item in hand, until nothing happens
    /// any more.
    fn settle(&mut self, bounds: &Bounds) {
        while let Some(action) = self.next_quiet() {
            self.act(bounds, action);
            for who in 1..self.clients.len() {
                if self.is_alive(who) && self.clients[who].pop.is_none() && !self.is_resting(who) {
                    self.pop(bounds, who);
                }
            }
        }
    }

    /// A worker whose want was fulfilled has another one, as long as there are items.
    fn is_resting(&self, who: usize) -> bool {
        self.all_done() || !self.clients[who].held.is_empty()
    }

    fn next_quiet(&self) -> Option<Action> {
        let holds = |who: &usize| self.is_alive(*who) && !self.clients[*who].held.is_empty();
        if let Some(who) = (0..self.clients.len()).find(holds) {
            return Some(Action::Finish(who, 0, PlayedEnd::Acknowledge));
        }
        let arrives = |at: &usize| self.can_arrive(&self.parcels[*at]);
        (0..self.parcels.len()).find(arrives).map(Action::Deliver)
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

    /// Every item in the queue is acknowledged or dead, and what was asked is answered.
    fn all_done(&self) -> bool {
        let is_dead = |standing: &Standing| matches!(standing, Standing::Dead { .. });
        let is_open = self.is_alive(0) && !self.clients[0].one_offs.is_empty();
        !is_open && self.ledger.all_items().all(|item| is_dead(&item.standing))
    }

    fn all_rest(&self) -> bool {
        let mut clients = self.clients.iter();
        clients.all(|client| client.life == Life::Gone || client.session.is_idle())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bounds::ModelFault,
        queue::{bounds::Spec, list::explored},
    };

    fn after(bounds: &Bounds, actions: &[Action]) -> World {
        let mut world = World::new(bounds);
        actions.iter().for_each(|action| world.act(bounds, *action));
        world
    }

    #[test]
    fn a_worker_that_lost_its_only_item_while_it_was_paused_takes_it_again() {
        let bounds = Bounds { workers: 1, items: &[Spec::PLAIN], ..Bounds::BASE };
        let begins = [Action::Push, Action::Pop(1)].into_iter().chain([Action::Deliver(0); 4]);
        let pauses = [Action::Befall(ModelFault::Pause, 1)].into_iter().chain([Action::Tick; 4]);
        let story: Vec<_> = begins.chain(pauses).collect();
        let mut world = after(&bounds, &story);
        assert_eq!(world.clients[1].held.len(), 1, "it does not know yet");
        world.act(&bounds, Action::Resume(1));
        assert!(world.clients[1].held.is_empty(), "its time is over");
        assert_eq!(world.broken(), None);
        assert_eq!(world.quiet(&bounds).err(), None);
    }

    /// The exploration found this history: the step of the clock makes the renewal late, and the
    /// only worker that is left gives back what it could not renew in time.
    #[test]
    fn the_last_worker_takes_what_it_lost_to_a_step_of_the_clock() {
        let is_it = |bounds: &Bounds| bounds.name == "queue-everything-clock";
        let bounds = explored().into_iter().find(is_it).unwrap();
        let dies = Action::Befall(ModelFault::Vanish, 1);
        let begins = [Action::Push, Action::Pop(1), dies, Action::Pop(2)].into_iter();
        let begins = begins.chain([Action::Deliver(0); 4]);
        let loses = [Action::Forward, Action::Deliver(0), Action::Tick, Action::Tick];
        let loses = loses.into_iter().chain([Action::Deliver(0), Action::Deliver(0), Action::Tick]);
        let world = after(&bounds, &begins.chain(loses).collect::<Vec<_>>());
        assert!(world.clients[2].held.is_empty());
        assert_eq!(world.quiet(&bounds).err(), None);
    }
}
