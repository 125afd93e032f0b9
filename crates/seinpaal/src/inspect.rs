//! Snapshots of names, for people.

use std::time::Duration;

use seinpaal_proto::{
    self as proto, About, Fence, HoldLengths, HolderRow, Kind, Name, RecentHolds, RenewalPromise,
    SlotNames, Slots, Ticket, WaiterRow,
    time::micros,
    why::{Estimate, Why},
};

/// Everything about a name at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The name.
    pub name: Name,
    /// The kind of lock that the name is. It has one while there are holders or waiters, or while a
    /// limit is set by an operator.
    pub kind: Option<Kind>,
    /// The limit in force. If neither an operator nor a client has stated one, it is the limit of
    /// the [`Semaphore`](crate::Semaphore) that looked, or else 1.
    pub limit: u32,
    /// Whether an operator [set](crate::Semaphore::set_limit) that limit. Then it stays until it is
    /// unset.
    pub is_pinned: bool,
    /// The [names](crate::Semaphore::name_slots) of the slots, from slot 0 up. It is empty if the
    /// slots have no names.
    pub slot_names: SlotNames,
    /// The limit that holders and waiters stated. It is in force if no limit was set, and ends with
    /// the last of them.
    pub stated_limit: Option<u32>,
    /// The reason of the pause, if the name is paused.
    pub paused: Option<String>,
    /// For how long the store admits nobody because it may have forgotten leases: the rest of its
    /// restart guard.
    pub guarded_for: Option<Duration>,
    /// How many permits are held.
    pub permits_held: u32,
    /// How many tickets hold.
    pub holders_total: u32,
    /// How many tickets wait.
    pub waiting_total: u32,
    /// The holders in the order of their grants. The list may be incomplete.
    pub holders: Vec<Holder>,
    /// The waiters in the order in which they will be served. The list may be incomplete.
    pub waiters: Vec<Waiter>,
    /// The lengths of the last holds.
    pub(crate) recent: RecentHolds,
    /// The holds that the estimates use.
    pub(crate) past: HoldLengths,
}

/// A ticket that holds permits.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Holder {
    /// Its ticket.
    pub ticket: Ticket,
    /// Its slots, one for each permit.
    pub slots: Slots,
    /// The number of its grant.
    pub fence: Fence,
    /// Its description of itself.
    pub about: About,
    /// How long it has held.
    pub held_for: Duration,
    /// How long its lease lasts without renewal. `None` means for as long as its process lives.
    pub valid_for: Option<Duration>,
    promise: RenewalPromise,
}

/// A ticket that waits for permits.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Waiter {
    /// Its ticket.
    pub ticket: Ticket,
    /// How many permits it waits for.
    pub permits: u32,
    /// The slots that must be among those that it gets.
    pub wishes: Slots,
    /// Its priority.
    pub priority: i8,
    /// Its description of itself.
    pub about: About,
    /// How long it has waited.
    pub waiting_for: Duration,
    /// Whether the waiter is passed over because no client listens at its inbox.
    pub is_unreachable: bool,
}

impl Snapshot {
    pub(crate) fn new(name: &Name, snapshot: seinpaal_proto::Snapshot) -> Self {
        Self {
            name: name.clone(),
            kind: snapshot.kind,
            limit: snapshot.limit,
            is_pinned: snapshot.pinned.is_some(),
            slot_names: snapshot.slot_names,
            stated_limit: snapshot.stated,
            paused: snapshot.paused,
            guarded_for: snapshot.guarded_for.map(Duration::from_micros),
            permits_held: snapshot.held,
            holders_total: snapshot.holders_total,
            waiting_total: snapshot.waiting_total,
            holders: snapshot.holders.into_iter().map(Holder::from).collect(),
            waiters: snapshot.waiters.into_iter().map(Waiter::from).collect(),
            recent: snapshot.recent,
            past: HoldLengths::from(snapshot.recent),
        }
    }

    /// Returns how many permits are free. This is a hint, because it may be out of date at once.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.limit.saturating_sub(self.permits_held)
    }

    /// Returns how long the longest of the listed waiters has waited.
    #[must_use]
    pub fn oldest_wait(&self) -> Option<Duration> {
        self.waiters.iter().map(|waiter| waiter.waiting_for).max()
    }

    /// Returns how long the last holds took that were given back: seven at most, the newest first.
    /// Each length is right to an eighth. They are forgotten with the name, some time after its
    /// last holder.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus of the last holds");
    /// gpus.acquire().await?.release().await?;
    /// assert_eq!(gpus.snapshot().await?.last_holds().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn last_holds(&self) -> impl Iterator<Item = Duration> + use<> {
        self.recent.lengths().map(Duration::from_micros)
    }

    /// Returns why a ticket waits, and an estimate of how long. Returns `None` if the ticket
    /// neither holds nor waits here, or is not listed. The answer is as old as the snapshot.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// use seinpaal::why::Why;
    ///
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let gpus = seinpaal.semaphore("gpus of one job");
    /// let permit = gpus.acquire().await?;
    /// let seen = gpus.snapshot().await?;
    /// for waiter in &seen.waiters {
    ///     let Some(Why::Waits(why)) = seen.why(&waiter.ticket) else { continue };
    ///     println!("{}: {:?}, {:?}", waiter.about.host, why.reasons, why.estimate);
    /// }
    /// assert!(matches!(seen.why(&permit.ticket()), Some(Why::Holds(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn why(&self, ticket: &Ticket) -> Option<Why> {
        proto::Snapshot::from(self).why_after(ticket, &self.past)
    }

    /// Returns how long each listed waiter may still wait, in the order of the line. The estimate
    /// of a waiter is the same as in [`why`](Self::why). It is made from the last seven
    /// [holds](Self::last_holds), or from more if a [`HoldTimes`](crate::HoldTimes) has seen more
    /// of them end.
    #[must_use]
    pub fn estimates(&self) -> Vec<Estimate> {
        proto::Snapshot::from(self).estimates(&self.past)
    }
}

/// The snapshot in the form of the ledger, without the descriptions of clients.
impl From<&Snapshot> for proto::Snapshot {
    fn from(seen: &Snapshot) -> Self {
        Self {
            kind: seen.kind,
            limit: seen.limit,
            stated: seen.stated_limit,
            // A pinned limit is the one in force.
            pinned: seen.is_pinned.then_some(seen.limit),
            slot_names: seen.slot_names.clone(),
            paused: seen.paused.clone(),
            guarded_for: seen.guarded_for.map(micros),
            held: seen.permits_held,
            holders_total: seen.holders_total,
            waiting_total: seen.waiting_total,
            recent: seen.recent,
            holders: seen.holders.iter().map(Holder::row).collect(),
            waiters: seen.waiters.iter().map(Waiter::row).collect(),
        }
    }
}

impl Holder {
    /// Returns how long ago its lease was renewed, if a holder that is alive would have renewed it
    /// since. Then the holder may be dead, stopped, or cut off from the store. Otherwise returns
    /// `None`, and also for a lease that its holder did not promise to renew.
    #[must_use]
    pub fn not_renewed_for(&self) -> Option<Duration> {
        let since = self.promise.overdue(micros(self.held_for), self.valid_for.map(micros));
        since.map(Duration::from_micros)
    }

    fn row(&self) -> HolderRow {
        HolderRow {
            ticket: self.ticket,
            slots: self.slots.clone(),
            fence: self.fence,
            held_for: micros(self.held_for),
            valid_for: self.valid_for.map(micros),
            // The ledger reads no other part of a description to say why a ticket waits.
            about: About::default().encode() + &self.promise.mark(),
        }
    }
}

impl Waiter {
    fn row(&self) -> WaiterRow {
        WaiterRow {
            ticket: self.ticket,
            permits: self.permits,
            wishes: self.wishes.clone(),
            priority: self.priority,
            waiting_for: micros(self.waiting_for),
            unreachable: self.is_unreachable,
            about: String::new(),
        }
    }
}

impl From<HolderRow> for Holder {
    fn from(row: HolderRow) -> Self {
        Self {
            ticket: row.ticket,
            slots: row.slots,
            fence: row.fence,
            promise: RenewalPromise::of(&row.about),
            about: About::decode(&row.about),
            held_for: Duration::from_micros(row.held_for),
            valid_for: row.valid_for.map(Duration::from_micros),
        }
    }
}

impl From<WaiterRow> for Waiter {
    fn from(row: WaiterRow) -> Self {
        Self {
            ticket: row.ticket,
            permits: row.permits,
            wishes: row.wishes,
            priority: row.priority,
            about: About::decode(&row.about),
            waiting_for: Duration::from_micros(row.waiting_for),
            is_unreachable: row.unreachable,
        }
    }
}
