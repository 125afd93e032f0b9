//! One name's state as the ledger meets it: one record while the name is small, rows when it is
//! not.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result};
use seinpaal_proto::{
    Batch, Contacts, Entry, Inbox, MemoryState, Name, Outcome, Standing, Ticket, execute,
    time::Micros,
};

use seinpaal_store::examination::found_in_state;

use super::{
    rows::{Rows, first_distinct},
    small::SmallName,
};

/// One name's state.
pub(super) enum NameState<'a> {
    Small(&'a Name, Box<SmallName<'a>>),
    Large(&'a Name, Rows<'a>),
}

impl<'a> NameState<'a> {
    /// Opens a name. A name that is not there is small.
    pub(super) fn open(db: &'a Connection, name: &'a Name) -> Result<Self> {
        if let Some(small) = SmallName::find(db, name)? {
            return Ok(Self::Small(name, Box::new(small)));
        }
        let rows = Rows::open(db, name)?;
        if rows.is_there() {
            return Ok(Self::Large(name, rows));
        }
        let small = SmallName::new(db, name, MemoryState::default());
        Ok(Self::Small(name, Box::new(small)))
    }

    /// Returns the contradictions in the stored state. If a large name has more than `most` rows of
    /// a kind, nothing is compared.
    pub(super) fn contradictions(&self, most: u32) -> Result<Vec<String>> {
        match self {
            Self::Small(_, small) => Ok(found_in_state(&small.state)),
            Self::Large(_, rows) => {
                let state = rows.gather_at_most(most)?;
                Ok(state.as_ref().map(found_in_state).unwrap_or_default())
            }
        }
    }

    /// Executes a batch. The result is written by [`keep`](Self::keep) at the latest.
    pub(super) fn execute(
        &mut self,
        contacts: &mut impl Contacts,
        now: Micros,
        batch: &Batch,
    ) -> Result<Outcome> {
        match self {
            Self::Small(_, small) => {
                let Ok(outcome) = execute(&mut small.state, contacts, now, batch);
                Ok(outcome)
            }
            Self::Large(_, rows) => execute(rows, contacts, now, batch),
        }
    }

    /// Writes the changes that are not written yet, in the form that the name should have.
    pub(super) fn keep(self, now: Micros) -> Result<()> {
        match self {
            Self::Small(name, mut small) => {
                if !small.write(now)? {
                    small.delete()?;
                    Rows::open(small.db(), name)?.fill(&mut small.state)?;
                }
            }
            Self::Large(name, mut rows) => {
                if let Some(state) = rows.gather_if_few()? {
                    let mut small = SmallName::new(rows.db(), name, state);
                    if small.write(now)? {
                        rows.delete_all()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Shortens the time for which tickets that were given back are remembered, to this time from
    /// now on. A large name remembers them for the usual time.
    pub(super) fn remember_for(&mut self, time: Micros, tickets: impl Iterator<Item = Ticket>) {
        let Self::Small(_, small) = self else { return };
        for ticket in tickets {
            small.remember_for(time, ticket);
        }
    }

    /// Lets the leases of a dead client end in the next settling.
    pub(super) fn end_leases_of(&mut self, inbox: Inbox) -> Result<()> {
        match self {
            Self::Small(_, small) => small.end_leases_of(inbox),
            Self::Large(_, rows) => rows.end_leases_of(inbox)?,
        }
        Ok(())
    }

    /// Returns the first `most` distinct clients in line, in the order of service.
    pub(super) fn first_waiting(&self, most: usize) -> Result<Vec<Inbox>> {
        match self {
            Self::Small(_, small) => {
                first_distinct(inboxes(small.state.line()).into_iter().map(Ok), most)
            }
            Self::Large(_, rows) => rows.first_waiting(most),
        }
    }

    /// Returns the clients of up to `most` waiters, those that were passed over among them.
    pub(super) fn waiting(&self, most: u32) -> Result<Vec<Inbox>> {
        match self {
            Self::Small(_, small) => Ok(waiting(&small.state, most)),
            Self::Large(_, rows) => rows.waiting(most),
        }
    }

    /// Returns up to `most` distinct clients that hold here, of those after this one.
    pub(super) fn holding(&self, after: Option<Inbox>, most: usize) -> Result<Vec<Inbox>> {
        match self {
            Self::Small(_, small) => Ok(holding(&small.state, after, most)),
            Self::Large(_, rows) => rows.holding(after, most),
        }
    }

    /// Returns whether nobody holds or waits here, as far as that is known without a query.
    pub(super) fn is_at_rest(&self) -> bool {
        match self {
            Self::Small(_, small) => small.state.is_at_rest(),
            Self::Large(..) => false,
        }
    }
}

/// Returns the clients of up to `most` waiters.
pub(super) fn waiting(state: &MemoryState, most: u32) -> Vec<Inbox> {
    inboxes(state.entries().filter(|entry| !holds(entry)).take(most as usize))
}

/// Returns up to `most` distinct clients that hold, of those after this one.
pub(super) fn holding(state: &MemoryState, after: Option<Inbox>, most: usize) -> Vec<Inbox> {
    let holding = inboxes(state.entries().filter(|entry| holds(entry)));
    let distinct: BTreeSet<Inbox> = holding.into_iter().collect();
    distinct.into_iter().filter(|inbox| Some(*inbox) > after).take(most).collect()
}

fn inboxes<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<Inbox> {
    entries.filter_map(|entry| entry.inbox).collect()
}

fn holds(entry: &Entry) -> bool {
    matches!(entry.standing, Standing::Holding { .. })
}
