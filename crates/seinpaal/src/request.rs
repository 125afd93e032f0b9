//! Requests. A request is first described by its methods, and is then polled as a future.

use std::task::{Context, Poll, ready};

use crate::store::BoxFuture;

/// A description of type `D` until the first poll, and a future of `T` from then on.
pub(crate) struct Described<D, T> {
    /// The description, which the first poll takes out.
    description: Option<D>,
    running: Option<BoxFuture<'static, T>>,
}

impl<D, T> Described<D, T> {
    pub(crate) fn new(description: D) -> Self {
        Self { description: Some(description), running: None }
    }

    /// Changes the description. After the first poll this has no effect.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut D)) -> Self {
        self.description.as_mut().map(change);
        self
    }

    pub(crate) fn description(&self) -> Option<&D> {
        self.description.as_ref()
    }

    pub(crate) fn into_description(self) -> Option<D> {
        self.description
    }

    /// Polls the request. The first poll starts it with `run`.
    ///
    /// # Panics
    /// If an earlier poll has returned the output.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        run: impl FnOnce(D) -> BoxFuture<'static, T>,
    ) -> Poll<T> {
        if let Some(description) = self.description.take() {
            self.running = Some(run(description));
        }
        let running = self.running.as_mut().expect("a request is not polled after it was done");
        let output = ready!(running.as_mut().poll(context));
        // This frees the future's memory, because the caller may keep the request.
        self.running = None;
        Poll::Ready(output)
    }
}

/// Makes a future of a request. The description has a method `run(self)` that returns the future of
/// the output.
macro_rules! request {
    ($request:ty => $output:ty) => {
        impl std::future::Future for $request {
            type Output = $output;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                context: &mut std::task::Context<'_>,
            ) -> std::task::Poll<$output> {
                self.get_mut().0.poll(context, |description| Box::pin(description.run()))
            }
        }

        impl std::fmt::Debug for $request {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($request)).field(&self.0.description()).finish()
            }
        }
    };
}
pub(crate) use request;
