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

/// The facts that a session must take over from the session before it at the same queue. It may
/// take them over from a session at any other queue. So a client need not keep a session for each
/// queue that it ever used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bearings {
    /// The number of the last batch.
    pub number: u64,
    /// The deadline of the last batch. Later batches have no earlier deadline, so the store
    /// remembers a batch for as long as an older one may still arrive.
    pub not_after: Micros,
    /// The last reading of the store's clock, when it was asked for on ours, and when the answer
    /// came.
    pub clock: Option<(Micros, Micros, Micros)>,
    /// The highest number of an item or a delivery that was seen, or the latest reading of the
    /// store's clock if that is higher. The numbers follow that clock.
    pub seen: u64,
}

/// A program's want for items.
#[derive(Clone, Debug)]
pub struct Want {
    /// The most items that the program wants: at once, or in hand at any time.
    pub items: u32,
    /// How long a lease lasts without renewal.
    pub ttl: Micros,
    /// How long the program wants items.
    pub until: Until,
    /// Whether to tell the program when nothing is ready, delayed or in work.
    pub drains: bool,
    /// The program's description of itself, encoded.
    pub about: String,
}

/// The time for which a program wants items.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Until {
    /// Until the store has answered once, or until this instant of our clock.
    Answered(Option<Micros>),
    /// Until there are items, or until this instant of our clock.
    Served(Option<Micros>),
    /// Until [`unpop`](super::Session::unpop). Items that are finished are followed by more.
    Unpopped,
}

/// A call to make.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call's id, which comes back with its result.
    pub id: CallId,
    /// The requests for the store.
    pub batch: Arc<Batch>,
}

/// The result of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The store executed the request and gave this answer.
    Done(Reply),
    /// The request was not executed, and will not be.
    NotDone,
    /// The store was silent for so long that it is not known whether it executed the request. It
    /// will not execute it any more.
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
    /// The store has been silent for too long to say. The session repeats the request until the
    /// store answers or the lease must have ended.
    Unknown,
}

/// How a delivery was lost.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Loss {
    /// The store ended the delivery: its lease ran out, the item was cancelled, or the store lost
    /// its memory.
    Ended,
    /// The store did not confirm the delivery in time.
    Silence,
}

/// An item that was delivered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivered {
    /// The item.
    pub item: Popped,
    /// The end of the time for which to believe in its lease; `None`: as long as the process lives.
    pub valid_until: Option<Micros>,
}

/// The events that the program is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The result of a question.
    Answer {
        /// The question.
        one_off: OneOffId,
        /// The result.
        answer: Answer,
    },
    /// Items are delivered. There are none only for a want that does not wait.
    Delivered {
        /// The want that gets them.
        pop: PopId,
        /// The items.
        items: Vec<Delivered>,
    },
    /// Nothing is ready, delayed or in work. The want is over.
    Drained {
        /// The pop that this is about.
        pop: PopId,
    },
    /// The deadline of the want came first. The want is over.
    TimedOut {
        /// The pop that this is about.
        pop: PopId,
    },
    /// The store was silent for too long, or refuses the request. The want is over.
    Failed {
        /// The pop that this is about.
        pop: PopId,
    },
    /// The lease is believed in until later than before. If the answer came late, danger may follow
    /// at once.
    Renewed {
        /// The delivery.
        delivery: Delivery,
        /// The end of the certain time; `None`: as long as the process lives.
        valid_until: Option<Micros>,
    },
    /// The lease was not renewed and ends soon, so the worker should stop.
    Danger {
        /// The delivery.
        delivery: Delivery,
    },
    /// Another worker may have the item from now on. A want that goes on counts the item as in hand
    /// until the program ends the delivery, too, by [`finish`](super::Session::finish).
    Lost {
        /// The delivery.
        delivery: Delivery,
        /// The cause of the loss.
        loss: Loss,
    },
    /// The delivery was ended.
    Finished {
        /// The delivery.
        delivery: Delivery,
        /// The way in which it ended.
        end: DeliveryEnd,
    },
}
