//! The agenda: when the session looks at each name. A name may have to wait for its turn: a program
//! that asks at very many names at once waits here and not at the store. Otherwise the session
//! would mistake its own backlog for a silent store. Names have their turn in the order in which
//! they became due. Names whose renewal is to overtake a call go first, and names at which nothing
//! is held or waits come last.

use alloc::collections::BTreeSet;

use super::{Session, compose::MOST_OVERTAKING, desk::AT_ONCE};
use crate::{name::Name, time::Micros};

/// The most calls under way. A store answers this many long before the session takes one of them
/// for lost.
const MOST_CALLS: usize = 4096;
/// With this many calls under way, names at which nothing is held and nobody waits get no call. The
/// rest of [`MOST_CALLS`] is for renewals and for names that are in use.
const MOST_NEW: usize = 512;

/// Names by the time at which they are due.
type NamesByTime = BTreeSet<(Micros, Name)>;

/// The names of each [`AgendaLine`].
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda([NamesByTime; 3]);

/// The line in which a name stands.
#[derive(Clone, Copy, Debug)]
enum AgendaLine {
    /// A renewal of the name is to overtake a call that is under way.
    Overdue,
    /// Permits are held at the name, or tickets wait there.
    Known,
    /// Nothing is held at the name yet, and nothing waits there.
    Newcomer,
}

/// The number of calls under way, and of those among them that overtake others.
#[derive(Clone, Copy, Debug)]
struct CallsUnderWay {
    calls: usize,
    overtaking: usize,
}

impl AgendaLine {
    /// The lines in the order in which they have their turn.
    const ALL: [Self; 3] = [Self::Overdue, Self::Known, Self::Newcomer];

    fn is_open(self, load: CallsUnderWay) -> bool {
        match self {
            Self::Overdue => load.overtaking < MOST_OVERTAKING,
            Self::Known => load.calls < MOST_CALLS,
            Self::Newcomer => load.calls < MOST_NEW,
        }
    }
}

impl Agenda {
    fn line(&mut self, turn: AgendaLine) -> &mut NamesByTime {
        &mut self.0[turn as usize]
    }

    /// Returns the first name of a line, if the line may have its turn.
    fn first(&self, turn: AgendaLine, load: CallsUnderWay) -> Option<&(Micros, Name)> {
        self.0[turn as usize].first().filter(|_| turn.is_open(load))
    }

    fn next_at(&self, load: CallsUnderWay) -> Option<Micros> {
        AgendaLine::ALL.into_iter().filter_map(|turn| Some(self.first(turn, load)?.0)).min()
    }

    fn take(&mut self, now: Micros, load: CallsUnderWay) -> Option<Name> {
        let is_due = |turn: &AgendaLine| self.first(*turn, load).is_some_and(|(at, _)| *at <= now);
        let turn = AgendaLine::ALL.into_iter().find(is_due)?;
        self.line(turn).pop_first().map(|(_, name)| name)
    }

    fn remove(&mut self, at: Micros, name: &Name) {
        let key = (at, name.clone());
        // A name stands in one line at most.
        let _ = self.0.iter_mut().any(|line| line.remove(&key));
    }
}

impl Session {
    fn load(&self) -> CallsUnderWay {
        CallsUnderWay { calls: self.calls.len(), overtaking: self.overtaking }
    }

    /// Takes the name from the agenda that is due now.
    pub(super) fn next_name(&mut self, now: Micros) -> Option<Name> {
        self.agenda.take(now, self.load())
    }

    /// Returns when the next name is due.
    pub(super) fn next_turn(&self) -> Option<Micros> {
        self.agenda.next_at(self.load())
    }

    /// Puts a desk on the agenda for `at`, unless it stands there for an earlier time.
    pub(super) fn look_at(&mut self, at: Micros, name: &Name) {
        let desk = self.desk(name);
        // While a call is under way only renewals are sent, so only they give the name a turn.
        let overtakes = desk.under_way.is_some();
        let at = if overtakes { desk.next_due() } else { Some(at) };
        let Some(at) = at else { return };
        let is_new = desk.is_new();
        match desk.agenda_at {
            // A name that is in use by now may still stand among the newcomers, so it is filed anew
            // even if its time does not change.
            Some(earlier) if earlier <= at && is_new => {}
            before => {
                let at = before.map_or(at, |before| before.min(at));
                desk.agenda_at = Some(at);
                self.strike(before, name);
                let turn = match (overtakes, is_new) {
                    (true, _) => AgendaLine::Overdue,
                    (false, true) => AgendaLine::Newcomer,
                    (false, false) => AgendaLine::Known,
                };
                self.agenda.line(turn).insert((at, name.clone()));
            }
        }
    }

    /// Takes a desk from the agenda, on which it stands at `at`.
    fn strike(&mut self, at: Option<Micros>, name: &Name) {
        at.inspect(|at| self.agenda.remove(*at, name));
    }

    /// Puts a desk on the agenda for its next deadline, or clears it away.
    pub(super) fn plan(&mut self, name: &Name) {
        let Some(desk) = self.desks.get(name) else { return };
        if desk.is_idle() {
            self.strike(desk.agenda_at, name);
            if let Some(desk) = self.desks.remove(name) {
                self.shelf.put(name, desk.shared_leases);
            }
        } else {
            let before = desk.agenda_at;
            // A name that is due at once has its turn by the time at which it became due, and
            // behind renewals that have been due for longer. Otherwise a busy name would pass a
            // quiet one for ever.
            let ready_at = before.map_or(self.latest, |before| before.min(self.latest));
            let due = desk.next_due().map(|due| if due == AT_ONCE { ready_at } else { due });
            if before != due || before.is_none() {
                self.strike(before, name);
                self.desk(name).agenda_at = None;
                due.inspect(|at| self.look_at(*at, name));
            }
        }
    }
}
