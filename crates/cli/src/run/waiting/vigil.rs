//! Watches during the wait whether the store answers, without sending it a request.

use std::time::Duration;

use crate::exit::Failure;
use seinpaal::{
    Outage, Seinpaal,
    store::{StoreError, StoreErrorKind},
};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often to look. A look costs the store nothing.
const PERIOD: Duration = Duration::from_secs(1);
/// How long a store may be silent before it is shown.
const NOTICE: Duration = Duration::from_secs(2);
/// How long a store may be silent before a line about it is printed. On a busy machine a store may
/// be silent for a while without being down.
pub(in crate::run) const WORTH_A_LINE: Duration = Duration::from_secs(6);

/// The news about the store.
#[derive(Clone, Debug)]
pub(in crate::run) enum StoreNews {
    /// The store does not answer. This news comes again and again for as long as that lasts.
    Silent(Outage),
    /// The store answers again.
    Back,
    /// The store has no room for another waiter or holder.
    Full(StoreError),
}

/// A watch over the store during a wait.
#[derive(Debug)]
pub(in crate::run) struct StoreVigil<'a> {
    seinpaal: &'a Seinpaal,
    ticks: Interval,
    is_silent: bool,
}

impl<'a> StoreVigil<'a> {
    pub(in crate::run) fn keep(seinpaal: &'a Seinpaal) -> Self {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { seinpaal, ticks, is_silent: false }
    }

    /// Waits for the next news. Cancel safe.
    pub(in crate::run) async fn next(&mut self) -> StoreNews {
        loop {
            self.ticks.tick().await;
            if let Some(news) = self.look() {
                return news;
            }
        }
    }

    fn look(&mut self) -> Option<StoreNews> {
        let outage = self.seinpaal.outage();
        let was_silent = self.is_silent;
        let full = outage.as_ref().and_then(|outage| outage.error.as_ref());
        if let Some(error) = full.filter(|error| error.kind() == StoreErrorKind::Full) {
            self.is_silent = true;
            return Some(StoreNews::Full(error.clone()));
        }
        let silent = outage.filter(|outage| outage.lasted >= NOTICE);
        self.is_silent = silent.is_some();
        match silent {
            Some(outage) => Some(StoreNews::Silent(outage)),
            None => was_silent.then_some(StoreNews::Back),
        }
    }
}

/// Waits until the store says that it has no room. The store says so at once, but the library keeps
/// trying for a while.
pub(crate) async fn full(seinpaal: &Seinpaal) -> Failure {
    let mut vigil = StoreVigil::keep(seinpaal);
    loop {
        if let StoreNews::Full(error) = vigil.next().await {
            return error.into();
        }
    }
}
