//! The messages between the session, its driver and the program.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{
    queue::{
        item::Delivery,
        reply::{Popped, Reply},
        request::Batch,
    },
    session::CallId,
    time::Micros,
};

/// The number of a one-off request, sent with [`Session::one_off`](super::Session::one_off).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OneOffId(pub u64);

/// The number of a want for items.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PopId(pub u64);

/// What a session must carry on from the one before it at the same queue, and may from that at any
/// other: so a client need not keep a session for each queue that it ever used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bearings {
    /// The number of the last batch.
    pub number: u64,
    /// Its deadline. Those of later ones are not before it, so the store remembers a batch for as
    /// long as an older one may still arrive.
    pub not_after: Micros,
    /// What the store's clock showed, when it was asked on ours, and when it answered.
    pub clock: Option<(Micros, Micros, Micros)>,
    /// The highest number of an item or a delivery that was seen, or reading of the store's clock,
    /// which they follow.
    pub seen: u64,
}

/// A program's want for items.
#[derive(Clone, Debug)]
pub struct Want {
    /// How many at most: at once, or in hand at any time.
    pub items: u32,
    /// How long a lease lasts without renewal.
    pub ttl: Micros,
    /// How long it is wanted.
    pub until: Until,
    /// Tell when nothing is ready, delayed or in work.
    pub drains: bool,
    /// The program's description of itself, encoded.
    pub about: String,
}

/// How long items are wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Until {
    /// Until the store has said once what there is, or until this instant of our clock.
    Answered(Option<Micros>),
    /// Until there are some, or until this instant of our clock.
    Served(Option<Micros>),
    /// Until [`unpop`](super::Session::unpop): what is finished is followed by more.
    Unpopped,
}

/// A call to make.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call's id, which comes back with its result.
    pub id: CallId,
    /// For the store.
    pub batch: Arc<Batch>,
}

/// The result of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// This.
    Done(Reply),
    /// Nothing: it was not done, and will not be.
    NotDone,
    /// The store was silent for so long that it is not known whether it was done. It will not be
    /// any more.
    Unknown,
}

/// How a delivery was ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DeliveryEnd {
    /// The item is done and gone.
    Acknowledged,
    /// The item is in the queue again.
    Returned,
    /// This was the item's last delivery, so it is a dead letter now.
    Died,
    /// The delivery was over before: its lease ran out, or the item was cancelled.
    Lost,
    /// The store has been silent for too long to say. It is told again, until it answers or the
    /// lease must have ended.
    Unknown,
}

/// How a delivery was lost.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Loss {
    /// The store ended it: its lease ran out, the item was cancelled, or the store lost its memory.
    Ended,
    /// The store did not confirm it in time.
    Silence,
}

/// An item that was delivered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivered {
    /// The item.
    pub item: Popped,
    /// Until when to believe in its lease; `None`: as long as the process lives.
    pub valid_until: Option<Micros>,
}

/// The events that the program is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// An answer.
    Answer {
        /// To which one-off request.
        one_off: OneOffId,
        /// The result.
        answer: Answer,
    },
    /// Items; none only for a want that does not wait.
    Delivered {
        /// For whom.
        pop: PopId,
        /// Which.
        items: Vec<Delivered>,
    },
    /// Nothing is ready, delayed or in work. The want is over.
    Drained {
        /// The pop that this is about.
        pop: PopId,
    },
    /// The deadline came first. The want is over.
    TimedOut {
        /// The pop that this is about.
        pop: PopId,
    },
    /// The store was silent for too long, or refuses. The want is over.
    Failed {
        /// The pop that this is about.
        pop: PopId,
    },
    /// Believed until later than was said before. If the answer came late, danger may follow at
    /// once.
    Renewed {
        /// Which delivery.
        delivery: Delivery,
        /// Until when; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The lease was not renewed and ends soon: time to stop.
    Danger {
        /// Which delivery.
        delivery: Delivery,
    },
    /// Somebody else may have the item from now on. A want that goes on counts it as in hand until
    /// the program ends it, too, by [`finish`](super::Session::finish).
    Lost {
        /// Which delivery.
        delivery: Delivery,
        /// How.
        loss: Loss,
    },
    /// The delivery was ended.
    Finished {
        /// Which.
        delivery: Delivery,
        /// How.
        end: DeliveryEnd,
    },
}
