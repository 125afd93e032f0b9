//! A request under way, from the moment it is sent until its answer is taken.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{Either, Ready, ready};
use tokio::sync::oneshot;

use crate::{
    driver::{
        AcquireRequest, DriverCommand, GrantInHand, Handle, RequestFigure, WaitCallbacks,
        WantedPermits,
    },
    error::AcquireError,
    permit::Permit,
};

pub(super) fn begin(
    handle: &Arc<Handle>,
    wanted: WantedPermits,
    callbacks: WaitCallbacks,
) -> PendingAcquire {
    let (request, pending) = PendingAcquire::new(handle, wanted, callbacks);
    handle.request(DriverCommand::Acquire(request));
    pending
}

/// A request that was sent, or the error in its description. A request that waits does not keep its
/// description.
pub(super) type Begun = Either<PendingAcquire, Ready<Result<Permit, AcquireError>>>;

pub(super) fn begun(pending: Result<PendingAcquire, AcquireError>) -> Begun {
    match pending {
        Ok(pending) => Either::Left(pending),
        Err(error) => Either::Right(ready(Err(error))),
    }
}

/// A request under way. Dropping it before its answer was taken abandons the request, and gives
/// back a grant that has come already.
pub(super) struct PendingAcquire {
    handle: Arc<Handle>,
    number: u64,
    answer: oneshot::Receiver<Result<Arc<GrantInHand>, AcquireError>>,
    is_over: bool,
}

impl PendingAcquire {
    pub(super) fn new(
        handle: &Arc<Handle>,
        wanted: WantedPermits,
        callbacks: WaitCallbacks,
    ) -> (Box<AcquireRequest>, Self) {
        let (reply, answer) = oneshot::channel();
        let number = handle.next_request();
        let pending = Self { handle: Arc::clone(handle), number, answer, is_over: false };
        let asked = RequestFigure::new(&wanted.name);
        let span = tracing::Span::current();
        (Box::new(AcquireRequest { number, wanted, callbacks, asked, span, reply }), pending)
    }
}

impl Future for PendingAcquire {
    type Output = Result<Permit, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(context));
        // The grant belongs to the caller from here on, so the drop of this value must not give it
        // back.
        self.is_over = true;
        let grant = answer.unwrap_or_else(|_| Err(self.handle.gone().into()));
        Poll::Ready(grant.map(|grant| Permit::new(Arc::clone(&self.handle), grant)))
    }
}

impl Drop for PendingAcquire {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // The channel is closed first: a grant that comes later finds no receiver, and the driver
        // gives it back. A grant that came before is found here, and its drop gives it back.
        self.answer.close();
        match self.answer.try_recv() {
            Ok(Ok(grant)) => drop(Permit::new(Arc::clone(&self.handle), grant)),
            Ok(Err(_)) => {}
            Err(_) => self.handle.send(DriverCommand::Abandon { number: self.number }),
        }
    }
}
