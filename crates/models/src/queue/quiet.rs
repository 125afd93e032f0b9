//! Progress, as something to be done within a bound: from any moment on nothing more goes wrong, workers
//! acknowledge at once, and then every item reaches one and nothing is left behind.

use seinpaal_proto::{
    Contact,
    queue::{Call, PLACE_TTL, Purge, Request, Standing},
};

use super::{
    action::Action,
    bounds::{Bounds, End},
    broken::Broken,
    world::{Client, Fate, Life, Load, Told, World},
};
use crate::bounds::TICK;

/// The look of an idle worker that nobody calls, and the call to the next one, in ticks.
const LOOK: u64 = PLACE_TTL / 3 / TICK + 4;
/// How long what is under way takes, and what the store looks at by itself.
const PROMPT: u64 = 4;

/// What did not come about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stuck {
    /// An item does not reach an idle worker in time, though nothing was lost that would have called it.
    Late,
    /// Nor until it looks by itself.
    Waits,
    /// The same with every wakeup lost from then on.
    Unheard,
    /// A client cannot come to rest.
    Busy,
    /// The queue still costs something.
    Left,
    /// A rule was broken after all.
    Broken(Broken),
    /// An item was said to be in the queue and has come to no end.
    Forgotten,
}

impl World {
    /// Runs the quiet schedule, with wakeups, and once without any. Says after how many ticks all items were
    /// done.
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
        world.parcels.retain(|parcel| !matches!(parcel.load, Load::Wakeup { .. }));
        world.run_until(&deaf, base + 2 * LOOK, Self::all_done).ok_or(Stuck::Unheard)?;
        Ok(ticks)
    }

    /// Nothing goes wrong from here on, and somebody works.
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

    /// Who was away is back, nobody wants anything any more, and what dead workers had runs out.
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
        let is_open = |tale: &super::world::Tale| {
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

    /// Whether the ledger counts on somebody who does not listen, or something was lost: then items wait for the
    /// look that the next in line takes by itself.
    fn is_slow(&self) -> bool {
        let is_gone = |inbox| {
            let client = self.clients.iter().find(|client| client.inbox == inbox);
            client.is_none_or(|client| client.life != Life::Alive)
        };
        let mut line = self.ledger.workers().filter(|(_, call)| *call == Call::InLine);
        self.ghost.is_slow || line.any(|(inbox, _)| is_gone(inbox))
    }

    /// An item fell due a while ago, and nobody has looked.
    fn is_overdue(&self) -> bool {
        let has_slept = |due: u64| due + PROMPT * TICK < self.store_now;
        self.ledger
            .all_items()
            .any(|item| matches!(item.standing, Standing::Delayed { due } if has_slept(due)))
    }

    /// Everything under way arrives, and what is in hand is acknowledged, until nothing happens any more.
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

    /// A worker whose wish was fulfilled has another one, for as long as there is something to do.
    fn is_resting(&self, who: usize) -> bool {
        self.all_done() || !self.clients[who].held.is_empty()
    }

    fn next_quiet(&self) -> Option<Action> {
        let holds = |who: &usize| self.is_alive(*who) && !self.clients[*who].held.is_empty();
        if let Some(who) = (0..self.clients.len()).find(holds) {
            return Some(Action::Finish(who, 0, End::Acknowledge));
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
        let is_open = self.is_alive(0) && !self.clients[0].asks.is_empty();
        !is_open && self.ledger.all_items().all(|item| is_dead(&item.standing))
    }

    fn all_rest(&self) -> bool {
        let mut clients = self.clients.iter();
        clients.all(|client| client.life == Life::Gone || client.session.is_idle())
    }
}
