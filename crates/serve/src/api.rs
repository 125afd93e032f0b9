//! The HTTP API, for programs that cannot link the crate. docs/decisions/serve.md gives the
//! reasons of its design.

mod address;
mod body;
mod deliveries;
mod document;
mod hold;
mod items;
mod letters;
mod listing;
mod names;
mod permits;
mod queues;
mod steer;

use std::sync::Arc;

use axum::{Router, extract::DefaultBodyLimit};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{problem, shared::HandlerState};

/// The longest body of a request, in bytes: almost three payloads of the largest size, as base64.
const MOST_BODY: usize = 4 << 20;

/// Makes the router of all addresses under `/v1`.
pub(crate) fn router() -> Router<Arc<HandlerState>> {
    let (router, document) = described().split_for_parts();
    document::serve(router, document)
        .fallback(problem::no_such_address)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(DefaultBodyLimit::max(MOST_BODY))
}

fn described() -> OpenApiRouter<Arc<HandlerState>> {
    OpenApiRouter::with_openapi(document::head())
        .routes(routes!(names::list))
        .routes(routes!(names::show))
        .routes(routes!(names::why))
        .routes(routes!(names::events))
        .routes(routes!(permits::acquire))
        .routes(routes!(hold::hold))
        .routes(routes!(permits::renew))
        .routes(routes!(permits::release))
        .routes(routes!(steer::set_limit, steer::unset_limit))
        .routes(routes!(steer::set_slots))
        .routes(routes!(steer::pause, steer::resume))
        .routes(routes!(steer::evict))
        .routes(routes!(steer::reserve))
        .routes(routes!(queues::list))
        .routes(routes!(queues::show))
        .routes(routes!(items::push))
        .routes(routes!(items::pop))
        .routes(routes!(deliveries::acknowledge))
        .routes(routes!(deliveries::fail))
        .routes(routes!(deliveries::give_back))
        .routes(routes!(deliveries::renew))
        .routes(routes!(steer::set_queue_limit, steer::unset_queue_limit))
        .routes(routes!(steer::pause_queue, steer::resume_queue))
        .routes(routes!(listing::list))
        .routes(routes!(letters::replay))
        .routes(routes!(letters::drop_one))
        .routes(routes!(letters::cancel))
        .routes(routes!(letters::replay_all))
        .routes(routes!(letters::drop_all))
        .routes(routes!(letters::cancel_all))
        .routes(routes!(letters::purge))
}
