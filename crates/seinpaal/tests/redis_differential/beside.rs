//! A history that is drawn beside a ledger, so that what comes next can go by what has come before.

use seinpaal_proto::{Standing, Ticket, execute};

use super::{
    history::Event,
    model::{Guard, Listening, Model},
};

/// The history so far, and the ledger's state after it.
pub(super) struct Beside {
    pub(super) model: Model,
    pub(super) now: u64,
    pub(super) events: Vec<Event>,
}

impl Beside {
    pub(super) fn new(guard: Option<Guard>) -> Self {
        let model = Model { guard, ..Model::default() };
        Self { model, now: super::bench::START, events: Vec::new() }
    }

    /// Does what the bench will do with it.
    pub(super) fn push(&mut self, event: Event) {
        match &event {
            Event::Listen(inbox) => drop(self.model.listening.insert(*inbox)),
            Event::Hush(inbox) => drop(self.model.listening.remove(inbox)),
            Event::LoseMarker => self.model.guard.iter_mut().for_each(|guard| guard.kept = None),
            Event::Call { step, inbox, fence, sketches } => {
                self.now = self.now.saturating_add_signed(*step);
                let batch = self.model.batch(self.now, *inbox, *fence, sketches);
                let guarded_for =
                    self.model.guard.as_mut().and_then(|guard| guard.left_at(self.now));
                let mut contacts = Listening(&self.model.listening, guarded_for);
                let Ok(_) = execute(&mut self.model.state, &mut contacts, self.now, &batch);
            }
        }
        self.events.push(event);
    }

    /// The numbers under which a session has permits, or waits for them, as far as the call that is
    /// being drawn has not changed that.
    pub(super) fn numbers(&self, session: usize, is_holding: bool) -> Vec<u32> {
        let series = ticket(session, 0).series();
        let entries = self.model.state.entries();
        let such = entries
            .filter(|entry| matches!(entry.standing, Standing::Holding { .. }) == is_holding);
        let own = such.filter(|entry| entry.ticket.series() == series);
        own.map(|entry| entry.ticket.number()).collect()
    }

    /// How long it takes each lease and each memory to end. `None`: the name is not there.
    pub(super) fn ends(&self) -> Option<Vec<u64>> {
        let facts = self.model.state.facts()?;
        let (clock, wall) = (facts.clock, facts.wall.max(self.now));
        let by_clock = self.model.state.leases().map(|lease| lease.ends.saturating_sub(clock));
        let by_wall = self.model.state.leases().map(|lease| lease.ends_wall.saturating_sub(wall));
        let memories = self.model.state.memories().map(|memory| memory.until.saturating_sub(clock));
        Some(by_clock.chain(by_wall).chain(memories).collect())
    }
}

pub(super) fn ticket(session: usize, number: u32) -> Ticket {
    let spread = 0xfedc_ba98_7654_3211_0123_4567_89ab_cdef_u128;
    Ticket((session as u128 + 1).wrapping_mul(spread)).series().ticket(number)
}
