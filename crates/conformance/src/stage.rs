//! The stage of a case: a harness, and a name that no other case uses.

use std::time::Duration;

use seinpaal_proto::{
    Contact, Contacts, Inbox, LeaseId, Name, Ticket, TicketSource,
    time::{Micros, micros},
};

use crate::{Ability, Harness};

/// Contacts that give every client this one state.
pub(crate) struct Everybody(pub(crate) Contact);

impl Contacts for Everybody {
    fn contact(&mut self, _: Inbox) -> Contact {
        self.0
    }
}

/// The stage of one case.
#[derive(Debug)]
pub struct CaseStage {
    harness: Box<dyn Harness>,
    name: Name,
}

impl CaseStage {
    /// A stage on this store.
    ///
    /// # Panics
    /// If the system has no source of randomness.
    #[must_use]
    pub fn new(harness: impl Harness + 'static) -> Self {
        Self::of(Box::new(harness))
    }

    /// As [`new`](Self::new), for a boxed harness.
    ///
    /// # Panics
    /// If the system has no source of randomness.
    #[must_use]
    pub fn of(harness: Box<dyn Harness>) -> Self {
        let name = Name::new(&format!("case {{{:032x}}}", random())).unwrap();
        Self { harness, name }
    }

    /// A stage on this store, if the store has these abilities. Otherwise prints the reason, as
    /// [`summary`] does.
    #[must_use]
    pub fn promised(harness: impl Harness + 'static, needs: &[Ability]) -> Option<Self> {
        if let Some(why) = lacking(&harness, needs) {
            println!("not promised: {why}");
            return None;
        }
        Some(Self::new(harness))
    }

    /// The reason for which the store does not promise a case that needs these abilities. `None` if
    /// the store promises it.
    #[must_use]
    pub fn lacks(&self, needs: &[Ability]) -> Option<&'static str> {
        lacking(&*self.harness, needs)
    }

    /// The name that this case is about.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    pub(crate) fn harness(&self) -> &dyn Harness {
        &*self.harness
    }

    pub(crate) fn now(&self) -> Micros {
        self.harness.now()
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.harness.advance(time);
    }

    /// Sets the store's clock back.
    pub(crate) fn set_back(&self, time: Duration) {
        self.harness.set_now(self.now().saturating_sub(micros(time)));
    }
}

/// Lists the cases, a line each: those that the store is put through, and the others with the
/// reason.
#[must_use]
pub fn summary(store: &str, harness: &dyn Harness, cases: &[(&str, &[Ability])]) -> String {
    let line = |(case, needs): &(&str, &[Ability])| {
        let verdict = lacking(harness, needs);
        let verdict =
            verdict.map_or_else(|| "promised".to_owned(), |why| format!("not promised: {why}"));
        format!("{case} | {store} | {verdict}\n")
    };
    cases.iter().map(line).collect()
}

fn lacking(harness: &dyn Harness, needs: &[Ability]) -> Option<&'static str> {
    needs.iter().find_map(|ability| harness.lacks(*ability))
}

/// Tickets that no other client has.
pub(crate) fn tickets<const N: usize>() -> [Ticket; N] {
    let mut source = TicketSource::new(Inbox(random()));
    std::array::from_fn(|_| source.ticket())
}

/// The tickets and leases of a client, as its session draws them: they begin like its inbox. Each
/// source draws others.
pub(crate) fn source_of(client: Inbox) -> TicketSource {
    TicketSource::new(Inbox(client.0 >> 64 << 64 | random() >> 64))
}

/// Tickets of one series that no other client has. Their permits stand under one lease, and their
/// places under another.
pub(crate) fn members<const N: usize>() -> [Ticket; N] {
    let series = tickets::<1>()[0].series();
    std::array::from_fn(|n| series.ticket(n as u32 + 1))
}

/// A lease that no client has.
pub(crate) fn lease() -> LeaseId {
    TicketSource::new(Inbox(random())).lease()
}

pub(crate) fn random() -> u128 {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).unwrap();
    u128::from_le_bytes(bytes)
}
