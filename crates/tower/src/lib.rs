//! A [tower](https://docs.rs/tower) layer that lets at most N requests of a key through at once, in
//! all processes of a service together, first come first served.
//!
//! ```
//! use std::{convert::Infallible, time::Duration};
//! use axum::{Router, body::Body, http::Request, routing::get};
//! use seinpaal::Seinpaal;
//! use seinpaal_tower::{Demand, LimitLayer};
//!
//! fn service(seinpaal: &Seinpaal) -> Router {
//!     // Three requests of a tenant at a time. One waits for its turn for two seconds, and is then answered 429.
//!     let tenants = LimitLayer::new(seinpaal, |request: &Request<Body>| {
//!         let tenant = request.headers().get("x-tenant")?.to_str().ok()?;
//!         Some(Demand::of(format!("tenant/{tenant}")).limit(3))
//!     });
//!     Router::new()
//!         .route("/", get(|| async { "done" }))
//!         .layer(tenants.wait(Duration::from_secs(2)).answering())
//! }
//! ```
//!
//! A request whose key is `None` passes without a permit.
//!
//! # What happens to a request
//!
//! | it … | then |
//! |---|---|
//! | gets a permit | the inner service is called, and the permit is renewed meanwhile |
//! | waits too long, or too many wait ([`LimitLayer::max_waiting`]) | it is refused: [`Refusal::is_busy`], 429 |
//! | finds the store silent | it is refused: [`Refusal::is_unavailable`], 503; or let through ([`LimitLayer::let_through_if_unavailable`]) |
//! | loses its permit | its work is dropped: [`Refusal::Lost`], 503, or a body that breaks off |
//! | is dropped, because the client hung up | it leaves the line, or gives the permit back in the background |
//!
//! [`LimitLayer::answering`] turns refusals into HTTP responses, and [`LimitLayer::answering_with`] lets
//! you write them. Without either, refusals are errors, for any protocol, and the permit is held
//! until the inner service has responded.
//!
//! Waiting is bounded by [`LimitLayer::wait`], 2 s unless it says otherwise. The inner service is
//! asked whether it is ready before the request waits. So an inner service that reserves something
//! when it is ready keeps the reservation during the wait. An axum `Router` between the layer and
//! that service avoids this: the router is always ready, and asks its inner service only when it is
//! called.

mod demand;
#[cfg(feature = "http")]
mod http;
mod layer;
mod refusal;
mod reply;
mod service;
mod settings;

pub use demand::Demand;
#[cfg(feature = "http")]
pub use http::{Answering, AnsweringWith, HeldBody};
pub use layer::LimitLayer;
pub use refusal::Refusal;
pub use reply::{AsErrors, BoxError, RequestPermit, RequestPermits, Responder};
pub use service::Limited;

#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../../../docs/guide/tower.md")]
struct Guide;
