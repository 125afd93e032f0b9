//! The permit: a guard that holds permits until it is released or dropped.

mod detach;
mod guarded;
mod release;
mod split;
mod standing;

use std::{fmt, sync::Arc};

use seinpaal_proto::{Fence, Slots, Ticket};

pub use detach::Detached;
pub use release::Release;

use crate::driver::{GrantInHand, Handle};

/// Permits that are held until this guard is released or dropped.
///
/// A permit is owned. It can be sent and kept anywhere, even outside a runtime. Dropping it gives
/// the permits back in the background, and [`release`](Self::release) also reports the result.
///
/// A permit that is kept nowhere goes back at once, and the compiler warns of it:
///
/// ```compile_fail
/// # #![deny(unused_must_use)]
/// # async fn example(seinpaal: seinpaal::Seinpaal) -> Result<(), seinpaal::AcquireError> {
/// seinpaal.mutex("nightly").lock().await?; // write `let _permit = …`
/// # Ok(()) }
/// ```
///
/// # If the holder dies
/// On one machine (memory, embedded) the permits are free at once. On a server they are free when
/// the lease ends, after a ttl at most.
///
/// # If the store is unreachable
/// The permit is first in [danger](crate::PermitState::Danger) and then
/// [lost](crate::PermitState::Lost), both before the store admits another holder. A program that is
/// stopped or swapped out may learn that late. Give [`fence`](Self::fence) to the resource: only
/// the resource can refuse a holder that is late.
///
/// ```
/// # futures_executor::block_on(async {
/// let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
/// let permit = seinpaal.semaphore("gpus").limit(4).acquire().await?;
/// assert_eq!(permit.slot(), 0);
/// assert!(permit.is_held());
/// permit.release().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[must_use = "a permit that is dropped goes back at once"]
pub struct Permit {
    handle: Arc<Handle>,
    parts: Vec<GrantPart>,
}

/// The slots of one grant that a permit has. A permit that was merged has a part of each grant.
#[derive(Clone)]
struct GrantPart {
    grant: Arc<GrantInHand>,
    slots: Slots,
}

impl Permit {
    pub(crate) fn new(handle: Arc<Handle>, grant: Arc<GrantInHand>) -> Self {
        let slots = grant.slots.clone();
        Self { handle, parts: vec![GrantPart { grant, slots }] }
    }

    /// Returns the ticket of the grant. After a merge this is the ticket of the latest grant.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.latest().ticket
    }

    /// Returns the number of the grant. After a merge this is the highest number. It grows with
    /// every grant of the name and so, within a slot, with every holder of the slot.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.latest().fence
    }

    /// Returns the lowest slot held, 0-based.
    #[must_use]
    pub fn slot(&self) -> u32 {
        self.slots().lowest().unwrap_or(0)
    }

    /// Returns all slots held, one for each permit.
    #[must_use]
    pub fn slots(&self) -> Slots {
        let mut slots = Slots::none();
        self.parts.iter().for_each(|part| slots.extend(&part.slots));
        slots
    }

    /// Returns the name of the lowest slot held, or `None` if the slots had no
    /// [names](crate::Semaphore::name_slots) at the grant.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let boards = seinpaal.semaphore("boards");
    /// boards.name_slots(["GPU-0", "GPU-1", "board-b"]).await?;
    /// let permit = boards.acquire().slot("board-b").await?;
    /// assert_eq!(permit.slot_name(), Some("board-b"));
    /// assert_eq!(boards.acquire().await?.slot_name(), Some("GPU-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn slot_name(&self) -> Option<&str> {
        self.name_of(self.slot())
    }

    /// Returns the names of all slots held, in ascending order of the slots. The list is empty if
    /// the slots had no names at the grant.
    #[must_use]
    pub fn slot_names(&self) -> Vec<&str> {
        // A writer has a million slots, and slots of readers and writers have no names.
        if self.parts.iter().all(|part| part.grant.names.is_empty()) {
            return Vec::new();
        }
        self.slots().iter().filter_map(|slot| self.name_of(slot)).collect()
    }

    fn name_of(&self, slot: u32) -> Option<&str> {
        let one = Slots::range(slot, slot);
        let part = self.parts.iter().find(|part| part.slots.contains(&one))?;
        part.grant.name_of(slot)
    }

    /// Returns the number of permits.
    #[must_use]
    pub fn permits(&self) -> u32 {
        self.slots().count()
    }

    /// Returns the limit that was in force at the grant.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.latest().limit
    }

    /// Returns the name of the semaphore.
    #[must_use]
    pub fn name(&self) -> &str {
        self.latest().name.as_str()
    }

    /// The part with the highest fence. A permit has at least one part until it is consumed.
    fn latest(&self) -> &GrantInHand {
        let latest = self.parts.iter().max_by_key(|part| part.grant.fence);
        &latest.unwrap_or_else(|| unreachable!("a permit always has a part")).grant
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("name", &self.name())
            .field("slots", &self.slots())
            .field("fence", &self.fence())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
