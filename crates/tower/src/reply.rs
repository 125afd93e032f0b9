//! What becomes of what the inner service says, and of refusals.

use std::{error::Error, sync::Arc};

use seinpaal::{Fence, Permit};

use crate::Refusal;

/// An error of any kind.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The permit that a request is served under: what the handler may know of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestPermit {
    /// Of which name.
    pub name: String,
    /// Give it to whatever the request changes, so that a late one can be refused.
    pub fence: Fence,
    /// The lowest slot that is held, from 0 to the limit, less 1.
    pub slot: u32,
}

impl From<&Permit> for RequestPermit {
    fn from(permit: &Permit) -> Self {
        Self { name: permit.name().to_owned(), fence: permit.fence(), slot: permit.slot() }
    }
}

/// How the layer speaks to who called it.
pub trait Responder<Request, Response, Failure> {
    /// What callers get.
    type Response;
    /// What callers get instead.
    type Error;

    /// The request is about to be served under this permit.
    fn enter(&self, _request: &mut Request, _held: RequestPermit) {}

    /// The inner service has answered. The permit, if the request has one, is given back when it is
    /// dropped.
    ///
    /// # Errors
    /// Those of the inner service.
    fn answered(
        &self,
        answer: Result<Response, Failure>,
        permit: Option<Arc<Permit>>,
        refuse: impl Fn(seinpaal::Lost) -> Refusal + Send + Sync + 'static,
    ) -> Result<Self::Response, Self::Error>;

    /// The request is refused, or was stopped.
    ///
    /// # Errors
    /// The refusal itself, where there is no response for it.
    fn refused(&self, refusal: Refusal) -> Result<Self::Response, Self::Error>;
}

/// Refusals are errors. The permit is given back when the inner service has responded.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsErrors;

impl<Request, Response, Failure: Into<BoxError>> Responder<Request, Response, Failure>
    for AsErrors
{
    type Response = Response;
    type Error = BoxError;

    fn answered(
        &self,
        answer: Result<Response, Failure>,
        _permit: Option<Arc<Permit>>,
        _refuse: impl Fn(seinpaal::Lost) -> Refusal + Send + Sync + 'static,
    ) -> Result<Response, BoxError> {
        answer.map_err(Into::into)
    }

    fn refused(&self, refusal: Refusal) -> Result<Response, BoxError> {
        Err(Box::new(refusal))
    }
}
