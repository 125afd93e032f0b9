//! Requests for permits of several names, sent in one step.

use std::sync::Arc;

use futures_util::future::join_all;

use super::pending::PendingAcquire;
use crate::{
    driver::{DriverCommand, Handle, WaitCallbacks, WantedPermits},
    error::AcquireError,
    permit::Permit,
    seinpaal::Seinpaal,
};

/// A request that can go together with others.
pub(crate) trait TogetherPart {
    /// The name, or an empty text if it is not a valid name.
    fn name(&self) -> &str;
    /// The permits that the request asks for, without waiting in line. Finds mistakes before
    /// anything is sent.
    fn wanted(&self) -> Result<WantedPermits, AcquireError>;
    /// Returns whether this connection made the request.
    fn is_of(&self, seinpaal: &Seinpaal) -> bool;
}

/// Asks for permits of several names in one step. Returns the answer to each request, in their
/// order.
pub(crate) async fn ask_together(
    handle: &Arc<Handle>,
    wanted: Vec<WantedPermits>,
) -> Vec<Result<Permit, AcquireError>> {
    let (requests, pending): (Vec<_>, Vec<_>) = wanted
        .into_iter()
        .map(|wanted| PendingAcquire::new(handle, wanted, WaitCallbacks::default()))
        .unzip();
    handle.send(DriverCommand::AcquireTogether(requests));
    join_all(pending).await
}
