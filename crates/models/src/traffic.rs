//! The parcels between the clients and the store, and the faults that befall them. Models of
//! permits and models of queues share this module, and differ in the type of a batch.

use std::sync::Arc;

use seinpaal_proto::{
    session::CallId,
    time::{Micros, SECOND},
};

use crate::bounds::ModelFault;

/// The first instant of the clients' clock, far enough from 0 that no instant is negative.
pub(crate) const START: Micros = 1_000_000 * SECOND;
/// The lead of the store's clock over the clients' clock.
pub(crate) const STORE_AHEAD: Micros = 1_000_000 * SECOND;

/// Whether a client runs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Life {
    Alive,
    Paused,
    Gone,
}

/// A parcel under way. It arrives before the next tick, unless it is late.
#[derive(Clone, Debug)]
pub(crate) struct Parcel<B, R, W> {
    /// Whether the parcel may arrive at any time from now on.
    pub(crate) is_late: bool,
    pub(crate) load: Load<B, R, W>,
}

/// The content of a parcel.
#[derive(Clone, Debug)]
pub(crate) enum Load<B, R, W> {
    /// A request to the store. `call` is the call whose answer its sender waits for. It is `None`
    /// once the sender has given the call up, and in a copy.
    Request { from: usize, call: Option<CallId>, batch: Arc<B> },
    /// Replies to a client that waits for them.
    Replies { to: usize, call: CallId, replies: Arc<R> },
    /// A wakeup for a client.
    Wakeup { to: usize, wakeup: Arc<W> },
}

impl<B, R, W> Parcel<B, R, W> {
    pub(crate) fn new(load: Load<B, R, W>) -> Self {
        Self { is_late: false, load }
    }

    /// The client that receives the parcel. `None` stands for the store.
    pub(crate) fn to(&self) -> Option<usize> {
        match self.load {
            Load::Request { .. } => None,
            Load::Replies { to, .. } | Load::Wakeup { to, .. } => Some(to),
        }
    }

    pub(crate) fn is_wakeup(&self) -> bool {
        matches!(self.load, Load::Wakeup { .. })
    }

    pub(crate) fn is_wakeup_to(&self, who: usize) -> bool {
        self.is_wakeup() && self.to() == Some(who)
    }

    /// Returns whether the parcel is a request whose answer nobody waits for.
    fn is_copy(&self) -> bool {
        matches!(self.load, Load::Request { call: None, .. })
    }
}

pub(crate) fn copies<B, R, W>(parcels: &[Parcel<B, R, W>]) -> usize {
    parcels.iter().filter(|parcel| parcel.is_copy()).count()
}

/// Lets a fault befall a parcel: the parcel is late, arrives twice, or is lost.
pub(crate) fn mangle<B, R, W>(parcels: &mut Vec<Parcel<B, R, W>>, fault: ModelFault, at: usize) {
    let parcel = &mut parcels[at];
    match (fault, &parcel.load) {
        (ModelFault::Delay, _) => parcel.is_late = true,
        (ModelFault::Repeat, Load::Request { from, batch, .. }) => {
            let load = Load::Request { from: *from, call: None, batch: Arc::clone(batch) };
            parcels.push(Parcel { is_late: true, load });
        }
        _ => drop(parcels.swap_remove(at)),
    }
}

/// Ends the waits for a client's calls. The client's requests may still arrive, and the replies to
/// the client are lost.
pub(crate) fn abandon<B, R, W>(parcels: &mut Vec<Parcel<B, R, W>>, who: usize) {
    let is_reply = |load: &Load<B, R, W>| matches!(load, Load::Replies { to, .. } if *to == who);
    parcels.retain(|parcel| !is_reply(&parcel.load));
    for parcel in parcels {
        if let Load::Request { from, call, .. } = &mut parcel.load
            && *from == who
        {
            (*call, parcel.is_late) = (None, true);
        }
    }
}
