//! Refusals as HTTP responses, and bodies that hold the permit.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use seinpaal::{Lost, Permit};

use crate::{BoxError, Refusal, RequestPermit, RequestPermits, Responder};

/// Turns refusals into responses: see [`LimitLayer::answering`](crate::LimitLayer::answering).
#[derive(Clone, Copy, Debug, Default)]
pub struct Answering;

/// Turns refusals into responses of the service's own: see
/// [`LimitLayer::answering_with`](crate::LimitLayer::answering_with).
#[derive(Clone, Copy)]
pub struct AnsweringWith<Respond>(pub(crate) Respond);

impl<B, Inside, Failure> Responder<Request<B>, Response<Inside>, Failure> for Answering
where
    Inside: From<String>,
{
    type Response = Response<HeldBody<Inside>>;
    type Error = Failure;

    fn enter(&self, request: &mut Request<B>, held: RequestPermit) {
        enter(request, held);
    }

    fn answered(
        &self,
        answer: Result<Response<Inside>, Failure>,
        permit: Option<Arc<Permit>>,
        refuse: impl Fn(Lost) -> Refusal + Send + Sync + 'static,
    ) -> Result<Self::Response, Failure> {
        answer.map(|response| response.map(|inside| HeldBody::new(inside, permit, refuse)))
    }

    fn refused(&self, refusal: Refusal) -> Result<Self::Response, Failure> {
        let mut response =
            respond(&refusal).map(|()| HeldBody::free(format!("{}\n", words(&refusal)).into()));
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        Ok(response)
    }
}

impl<B, Inside, Failure, Respond> Responder<Request<B>, Response<Inside>, Failure>
    for AnsweringWith<Respond>
where
    Respond: Fn(&Refusal, Response<()>) -> Response<Inside>,
{
    type Response = Response<HeldBody<Inside>>;
    type Error = Failure;

    fn enter(&self, request: &mut Request<B>, held: RequestPermit) {
        enter(request, held);
    }

    fn answered(
        &self,
        answer: Result<Response<Inside>, Failure>,
        permit: Option<Arc<Permit>>,
        refuse: impl Fn(Lost) -> Refusal + Send + Sync + 'static,
    ) -> Result<Self::Response, Failure> {
        answer.map(|response| response.map(|inside| HeldBody::new(inside, permit, refuse)))
    }

    fn refused(&self, refusal: Refusal) -> Result<Self::Response, Failure> {
        Ok((self.0)(&refusal, respond(&refusal)).map(HeldBody::free))
    }
}

fn enter<B>(request: &mut Request<B>, held: RequestPermit) {
    let extensions = request.extensions_mut();
    extensions.get_or_insert_default::<RequestPermits>().0.push(held.clone());
    extensions.insert(held);
}

/// The response to a refused request, without a body.
fn respond(refusal: &Refusal) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = status(refusal);
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        // The client is told nothing of the cause, so this is the only place where it is seen.
        tracing::warn!(target: "seinpaal_tower", %refusal, "a request cannot be served");
    } else {
        let after = HeaderValue::from(seconds(refusal));
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

/// What a client is told. A refusal's own text has the store's address and words for operators.
fn words(refusal: &Refusal) -> &'static str {
    match refusal {
        refusal if refusal.is_busy() => "too many requests: try again later",
        Refusal::Lost { .. } => "the request was stopped half-way: try again later",
        refusal if refusal.is_unavailable() => "not available: try again later",
        Refusal::Acquire { .. } => "internal error",
    }
}

fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        refusal if refusal.is_busy() => StatusCode::TOO_MANY_REQUESTS,
        refusal if refusal.is_unavailable() => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Lost { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Acquire { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the value of `Retry-After`: whole seconds, rounded up, and at least one.
fn seconds(refusal: &Refusal) -> u64 {
    let after = refusal.retry_after();
    (after.as_secs() + u64::from(after.subsec_nanos() > 0)).max(1)
}

/// A future that keeps the permit while it is pending, and is done when the permit is lost.
type LossFuture = Pin<Box<dyn Future<Output = Refusal> + Send>>;

pin_project! {
    /// A body that holds the permit until it has been sent, or is dropped. It breaks off with a
    /// [`Refusal`] when the permit is lost.
    pub struct HeldBody<Inside> {
        #[pin]
        inside: Inside,
        lost: Option<LossFuture>,
        // The permit was lost, and nothing more may be sent.
        is_over: bool,
    }
}

impl<Inside> HeldBody<Inside> {
    /// A body that holds the permit, if there is one.
    fn new(
        inside: Inside,
        permit: Option<Arc<Permit>>,
        refuse: impl Fn(Lost) -> Refusal + Send + Sync + 'static,
    ) -> Self {
        let lost = permit
            .map(|permit| -> LossFuture { Box::pin(async move { refuse(permit.lost().await) }) });
        Self { inside, lost, is_over: false }
    }

    /// A body that holds no permit.
    fn free(inside: Inside) -> Self {
        Self { inside, lost: None, is_over: false }
    }
}

impl<Respond> fmt::Debug for AnsweringWith<Respond> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnsweringWith").finish_non_exhaustive()
    }
}

impl<Inside> fmt::Debug for HeldBody<Inside> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBody").field("is_held", &self.lost.is_some()).finish_non_exhaustive()
    }
}

impl<Inside: Body<Error: Into<BoxError>>> Body for HeldBody<Inside> {
    type Data = Inside::Data;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, BoxError>>> {
        let this = self.project();
        if *this.is_over {
            return Poll::Ready(None);
        }
        // The loss is checked first, because nothing more may be sent once the permit may have
        // another holder.
        if let Some(lost) = this.lost
            && let Poll::Ready(refusal) = lost.as_mut().poll(context)
        {
            (*this.lost, *this.is_over) = (None, true);
            return Poll::Ready(Some(Err(Box::new(refusal))));
        }
        let frame = ready!(this.inside.poll_frame(context));
        if frame.is_none() {
            // The body may be kept after its end, so the permit is given back now.
            *this.lost = None;
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.inside.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inside.size_hint()
    }
}
