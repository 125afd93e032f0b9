//! The ways in which answers of the inner service, and refusals, reach the caller.

use std::{error::Error, sync::Arc};

use seinpaal::{Fence, Permit};

use crate::Refusal;

/// An error of any kind.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The permit that a request is served under, as its handler sees it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestPermit {
    /// The name of the permit.
    pub name: String,
    /// The number of its grant. Give it to the resource that the request changes, so that the
    /// resource can refuse a late request.
    pub fence: Fence,
    /// The lowest held slot, from 0 to the limit less 1.
    pub slot: u32,
}

/// All permits that a request is served under, if several layers have asked for one: the outermost
/// first. [`RequestPermit`] is that of the innermost layer.
#[derive(Clone, Debug, Default)]
pub struct RequestPermits(pub Vec<RequestPermit>);

impl From<&Permit> for RequestPermit {
    fn from(permit: &Permit) -> Self {
        Self { name: permit.name().to_owned(), fence: permit.fence(), slot: permit.slot() }
    }
}

/// How the layer answers its callers.
pub trait Responder<Request, Response, Failure> {
    /// The response that callers get.
    type Response;
    /// The error that callers get instead.
    type Error;

    /// Prepares a request that is about to be served under this permit.
    fn enter(&self, _request: &mut Request, _held: RequestPermit) {}

    /// Passes on the answer of the inner service. The permit, if the request has one, is given back
    /// when it is dropped.
    ///
    /// # Errors
    /// The errors of the inner service.
    fn answered(
        &self,
        answer: Result<Response, Failure>,
        permit: Option<Arc<Permit>>,
        refuse: impl Fn(seinpaal::Lost) -> Refusal + Send + Sync + 'static,
    ) -> Result<Self::Response, Self::Error>;

    /// Answers a request that is refused, or whose work was stopped.
    ///
    /// # Errors
    /// The refusal itself, if this type makes no response of it.
    fn refused(&self, refusal: Refusal) -> Result<Self::Response, Self::Error>;
}

/// Turns refusals into errors. The permit is given back when the inner service has responded.
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
