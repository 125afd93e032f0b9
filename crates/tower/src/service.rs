//! A service behind the layer.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tower_service::Service;

use crate::{Demand, Refusal, RequestPermit, Responder, settings::LayerSettings};

/// A service whose requests need permits: see [`LimitLayer`](crate::LimitLayer).
pub struct Limited<S, Key, Answers> {
    pub(crate) inner: S,
    pub(crate) settings: LayerSettings,
    pub(crate) key: Arc<Key>,
    pub(crate) reply: Answers,
}

impl<S, Key, Answers, Request> Service<Request> for Limited<S, Key, Answers>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Send,
    Request: Send + 'static,
    Key: Fn(&Request) -> Option<Demand>,
    Answers: Responder<Request, S::Response, S::Error> + Clone + Send + Sync + 'static,
{
    type Response = Answers::Response;
    type Error = Answers::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self.inner.poll_ready(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            // An error of the inner service, turned into an error of this one. A service that is
            // not ready has no request to respond to.
            Poll::Ready(Err(error)) => match self.reply.answered(Err(error), None, never_lost) {
                Err(error) => Poll::Ready(Err(error)),
                Ok(_) => Poll::Ready(Ok(())),
            },
        }
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The request goes to the service that was polled and is ready. Its clone was not polled.
        let clone = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, clone);
        let demand = (self.key)(&request);
        let (settings, reply) = (self.settings.clone(), self.reply.clone());
        Box::pin(async move {
            let permit = match demand {
                None => None,
                Some(demand) => match settings.enter(demand).await {
                    Ok(permit) => permit.map(Arc::new),
                    Err(refusal) => return reply.refused(refusal),
                },
            };
            let Some(permit) = permit else {
                let answer = inner.call(request).await;
                return reply.answered(answer, None, never_lost);
            };
            reply.enter(&mut request, RequestPermit::from(&*permit));
            let (name, retry_after) = (permit.name().to_owned(), settings.retry_after);
            let refuse = move |lost| Refusal::Lost { name: name.clone(), lost, retry_after };
            match permit.while_held(inner.call(request)).await {
                Ok(answer) => reply.answered(answer, Some(permit), refuse),
                Err(lost) => reply.refused(refuse(lost)),
            }
        })
    }
}

/// Makes the refusal for a lost permit, for a request that has no permit. It is never called.
fn never_lost(lost: seinpaal::Lost) -> Refusal {
    Refusal::Lost { name: String::new(), lost, retry_after: std::time::Duration::ZERO }
}

impl<S: Clone, Key, Answers: Clone> Clone for Limited<S, Key, Answers> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            settings: self.settings.clone(),
            key: Arc::clone(&self.key),
            reply: self.reply.clone(),
        }
    }
}

impl<S, Key, Answers> fmt::Debug for Limited<S, Key, Answers> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited").field("settings", &self.settings).finish_non_exhaustive()
    }
}
