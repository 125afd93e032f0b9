//! Reports the permits and calls of this process to the `metrics` facade. src/metrics.md describes
//! the metrics for users.

mod place;

use std::{
    collections::HashSet,
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use metrics::{
    SharedString, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use seinpaal_proto::{
    Name,
    queue::session::{DeliveryEnd, Loss},
};

use place::PlaceFigure;

use crate::{
    error::{AcquireError, Ended},
    permit_state::Lost,
    store::StoreError,
};

const HELD: &str = "seinpaal_client_permits_held";
const LIMIT: &str = "seinpaal_client_limit";
const WAITERS: &str = "seinpaal_client_waiters";
const LINE: &str = "seinpaal_client_line_length";
const SINCE: &str = "seinpaal_client_oldest_waiter_since_seconds";
const WAIT: &str = "seinpaal_client_wait_seconds";
const HOLD: &str = "seinpaal_client_hold_seconds";
const ACQUISITIONS: &str = "seinpaal_client_acquisitions_total";
const LOSSES: &str = "seinpaal_client_losses_total";
const RENEWALS: &str = "seinpaal_client_renewals_total";
const ROUND_TRIP: &str = "seinpaal_client_store_round_trip_seconds";
const ERRORS: &str = "seinpaal_client_store_errors_total";
const IN_WORK: &str = "seinpaal_client_items_in_work";
const DELIVERIES: &str = "seinpaal_client_deliveries_total";
const DELIVERY_LOSSES: &str = "seinpaal_client_delivery_losses_total";
const RECONNECTS: &str = "seinpaal_client_reconnects_total";

/// How many names have series of their own: the first ones. A facade forgets no series, so their
/// number has to be bounded.
const MOST_NAMES: usize = 100;

static NAMES: LazyLock<Mutex<HashSet<SharedString>>> = LazyLock::new(|| {
    describe();
    Mutex::default()
});

fn describe() {
    describe_gauge!(HELD, "Permits that this process holds");
    describe_gauge!(LIMIT, "The limit at the last grant to this process");
    describe_gauge!(WAITERS, "Requests of this process that wait in line");
    describe_gauge!(LINE, "How many stood in line when the last request of this process joined it");
    describe_gauge!(
        SINCE,
        Unit::Seconds,
        "Since when the request waits that waits longest in this process, as Unix time; 0: none waits"
    );
    describe_histogram!(WAIT, Unit::Seconds, "From the request to its grant");
    describe_histogram!(HOLD, Unit::Seconds, "From a grant until it was given back or lost");
    describe_counter!(ACQUISITIONS, "Requests for permits that ended, by outcome");
    describe_counter!(LOSSES, "Grants that were lost, by cause");
    describe_counter!(RENEWALS, "Grants whose lease was renewed, each time");
    describe_histogram!(ROUND_TRIP, Unit::Seconds, "Calls to the store, answered or not");
    describe_counter!(ERRORS, "Calls that the store did not answer, or refused, by kind");
    describe_gauge!(IN_WORK, "Items of queues that this process has in work");
    describe_counter!(DELIVERIES, "Items of queues that this process finished, by outcome");
    describe_counter!(DELIVERY_LOSSES, "Items that were lost while this process worked on them");
    describe_counter!(RECONNECTS, "How often the connection was made again");
}

/// The name as a label. The label is empty, which no name is, if too many names have one.
fn label(name: &Name) -> SharedString {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known.clone();
    }
    if names.len() >= MOST_NAMES {
        return SharedString::const_str("");
    }
    let label = SharedString::from_owned(name.as_str().to_owned());
    names.insert(label.clone());
    label
}

/// A request, from the moment when it was made.
pub(crate) struct RequestFigure {
    name: SharedString,
    since: Instant,
    place: Option<PlaceFigure>,
}

impl RequestFigure {
    pub(crate) fn new(name: &Name) -> Self {
        Self { name: label(name), since: Instant::now(), place: None }
    }

    /// Takes note that the request stands in line, with this many requests in all.
    pub(crate) fn queued(&mut self, waiting: u32) {
        gauge!(LINE, "name" => self.name.clone()).set(waiting);
        self.place.get_or_insert_with(|| PlaceFigure::take(&self.name));
    }

    pub(crate) fn granted(&self, permits: u32, limit: u32) -> HoldFigure {
        self.ended("granted");
        let name = self.name.clone();
        histogram!(WAIT, "name" => name.clone()).record(self.since.elapsed());
        gauge!(HELD, "name" => name.clone()).increment(permits);
        // The names without series of their own share one series, and have no limit in common.
        if !name.is_empty() {
            gauge!(LIMIT, "name" => name.clone()).set(limit);
        }
        HoldFigure { name, permits, since: Instant::now(), is_over: AtomicBool::new(false) }
    }

    pub(crate) fn refused(&self, error: &AcquireError) {
        self.ended(match error {
            AcquireError::Busy => "busy",
            AcquireError::Paused { .. } => "paused",
            AcquireError::TooManyWaiting => "too_many_waiting",
            AcquireError::TimedOut => "timed_out",
            AcquireError::Store(_) => "store_error",
            AcquireError::OtherLimit { .. }
            | AcquireError::OtherKind { .. }
            | AcquireError::TooMany { .. }
            | AcquireError::NoSuchSlot { .. } => "conflict",
            AcquireError::Ended(_) => "ended",
            _ => "other",
        });
    }

    pub(crate) fn abandoned(&self) {
        self.ended("abandoned");
    }

    fn ended(&self, outcome: &'static str) {
        counter!(ACQUISITIONS, "name" => self.name.clone(), "outcome" => outcome).increment(1);
    }
}

/// A grant, until it is given back or lost.
pub(crate) struct HoldFigure {
    name: SharedString,
    permits: u32,
    since: Instant,
    is_over: AtomicBool,
}

impl HoldFigure {
    pub(crate) fn renewed(&self) {
        counter!(RENEWALS, "name" => self.name.clone()).increment(1);
    }

    pub(crate) fn lost(&self, how: Lost) {
        let cause = match how {
            Lost::Ended(Ended::Evicted) => "evicted",
            Lost::Ended(Ended::Expired) => "expired",
            Lost::Ended(Ended::Released) => "released",
            Lost::Ended(Ended::Attached) => "attached",
            Lost::Ended(_) | Lost::Withdrawn => "ended",
            Lost::Forgotten => "forgotten",
            Lost::Silence => "silence",
            Lost::Closed => "closed",
        };
        counter!(LOSSES, "name" => self.name.clone(), "cause" => cause).increment(1);
        self.is_over();
    }

    /// Counts the end of the grant, once.
    pub(crate) fn is_over(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            histogram!(HOLD, "name" => self.name.clone()).record(self.since.elapsed());
            gauge!(HELD, "name" => self.name.clone()).decrement(self.permits);
        }
    }
}

impl Drop for HoldFigure {
    fn drop(&mut self) {
        self.is_over();
    }
}

/// Items of a queue that this process has in work.
pub(crate) fn in_work(queue: &Name, items: usize) {
    gauge!(IN_WORK, "name" => label(queue)).set(u32::try_from(items).unwrap_or(u32::MAX));
}

/// A call to the store, from the moment when it was made.
pub(crate) struct CallFigure(&'static str, Instant);

impl CallFigure {
    pub(crate) fn begin(about: &'static str) -> Self {
        Self(about, Instant::now())
    }

    pub(crate) fn end(self, error: Option<&StoreError>) {
        histogram!(ROUND_TRIP, "about" => self.0).record(self.1.elapsed());
        if let Some(error) = error {
            let kind = SharedString::from_owned(format!("{:?}", error.kind()).to_lowercase());
            counter!(ERRORS, "about" => self.0, "kind" => kind).increment(1);
        }
    }
}

/// Counts a delivery that the program has finished.
pub(crate) fn delivery_finished(queue: &Name, end: DeliveryEnd) {
    let outcome = match end {
        DeliveryEnd::Acknowledged => "acknowledged",
        DeliveryEnd::Returned => "returned",
        DeliveryEnd::Died => "died",
        DeliveryEnd::Lost => "lost",
        DeliveryEnd::Unknown => "unknown",
    };
    counter!(DELIVERIES, "name" => label(queue), "outcome" => outcome).increment(1);
}

/// Counts a delivery that was lost, even if the program has not finished it yet.
pub(crate) fn delivery_lost(queue: &Name, loss: Loss) {
    let cause = match loss {
        Loss::Silence => "silence",
        Loss::Ended => "ended",
    };
    counter!(DELIVERY_LOSSES, "name" => label(queue), "cause" => cause).increment(1);
}

pub(crate) fn reconnected() {
    counter!(RECONNECTS).increment(1);
}
