//! The layer, and its settings.

use std::{fmt, sync::Arc, time::Duration};

use seinpaal::Seinpaal;
use tower_layer::Layer;

use crate::{AsErrors, Demand, Limited, settings::LayerSettings};

/// How long a request waits for its turn unless the layer says otherwise.
const WAIT: Duration = Duration::from_secs(2);
/// The time after which a refused client is told to try again, unless the layer says otherwise.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits how many requests of a key are served at once: see the [crate](crate).
#[must_use]
pub struct LimitLayer<Key, Answers = AsErrors> {
    settings: LayerSettings,
    key: Arc<Key>,
    reply: Answers,
}

impl<Key> LimitLayer<Key> {
    /// Makes a layer that takes permits over this connection. `key` says what a request asks for. A
    /// request for which it says `None` passes without a permit.
    pub fn new<Request>(seinpaal: &Seinpaal, key: Key) -> Self
    where
        Key: Fn(&Request) -> Option<Demand>,
    {
        let settings = LayerSettings {
            seinpaal: seinpaal.clone(),
            wait: WAIT,
            max_waiting: None,
            retry_after: RETRY_AFTER,
            lets_through: false,
        };
        Self { settings, key: Arc::new(key), reply: AsErrors }
    }

    /// Answers refused requests by HTTP: 429 if others have the permits, 503 if the store does not
    /// answer or the permit was lost, both with `Retry-After`; 500 for every other error, such as a
    /// demand that cannot be met. The body says no more than that: neither the name, nor the store,
    /// nor its error. What the service has to put right, a 500, is logged as a warning.
    ///
    /// The permit is held until the body of the response has been sent, or dropped, and a body
    /// breaks off when the permit is lost. Handlers find a [`RequestPermit`](crate::RequestPermit)
    /// among the extensions of their request, and with several layers all of them in
    /// [`RequestPermits`](crate::RequestPermits).
    #[cfg(feature = "http")]
    pub fn answering(self) -> LimitLayer<Key, crate::Answering> {
        LimitLayer { settings: self.settings, key: self.key, reply: crate::Answering }
    }

    /// Answers refused requests as [`answering`](Self::answering) does, with responses that
    /// `respond` makes. It gets the refusal and a response that has status and `Retry-After`
    /// already. The refusal's text is for logs: it may name the store.
    ///
    /// ```
    /// # use axum::{body::Body, http::{Request, Response}};
    /// # use seinpaal_tower::{Demand, LimitLayer, Refusal};
    /// # fn example(seinpaal: &seinpaal::Seinpaal) {
    /// let layer = LimitLayer::new(seinpaal, |_: &Request<Body>| Some(Demand::of("all").limit(9)));
    /// let layer = layer.answering_with(|refusal: &Refusal, response: Response<()>| {
    ///     let error = if refusal.is_busy() { "busy" } else { "unavailable" };
    ///     response.map(|()| Body::from(format!(r#"{{"error":"{error}"}}"#)))
    /// });
    /// # let _ = layer; }
    /// ```
    #[cfg(feature = "http")]
    pub fn answering_with<Respond, Inside>(
        self,
        respond: Respond,
    ) -> LimitLayer<Key, crate::AnsweringWith<Respond>>
    where
        Respond: Fn(&crate::Refusal, http::Response<()>) -> http::Response<Inside> + Clone,
    {
        let reply = crate::AnsweringWith(respond);
        LimitLayer { settings: self.settings, key: self.key, reply }
    }
}

impl<Key, Answers> LimitLayer<Key, Answers> {
    /// Sets the longest time that a request waits for its turn. Default 2 s. With zero a request
    /// never stands in line. It still waits up to 5 s for a store that does not answer.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.settings.wait = wait;
        self
    }

    /// Refuses a request at once if this many wait already for the same name, in all processes
    /// together.
    pub fn max_waiting(mut self, waiting: u32) -> Self {
        self.settings.max_waiting = Some(waiting);
        self
    }

    /// Sets after how long refused clients are told to try again. Default 1 s. `Retry-After` of
    /// HTTP has whole seconds, so the time is rounded up there.
    pub fn retry_after(mut self, after: Duration) -> Self {
        self.settings.retry_after = after;
        self
    }

    /// Serves requests without a permit while the store does not answer, after they have waited for
    /// it. Use this for limits that spare a machine, and not for limits that keep two writers
    /// apart.
    pub fn let_through_if_unavailable(mut self) -> Self {
        self.settings.lets_through = true;
        self
    }
}

impl<Key, Answers: Clone> Clone for LimitLayer<Key, Answers> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            key: Arc::clone(&self.key),
            reply: self.reply.clone(),
        }
    }
}

impl<Key, Answers> fmt::Debug for LimitLayer<Key, Answers> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitLayer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<Key, Answers: Clone, S> Layer<S> for LimitLayer<Key, Answers> {
    type Service = Limited<S, Key, Answers>;

    fn layer(&self, inner: S) -> Self::Service {
        Limited {
            inner,
            settings: self.settings.clone(),
            key: Arc::clone(&self.key),
            reply: self.reply.clone(),
        }
    }
}
