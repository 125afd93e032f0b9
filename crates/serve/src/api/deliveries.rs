//! The ends of deliveries, as workers report them.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    address::OfDelivery,
    body::{Body, FromPath, User, duration},
    permits::{DELAYS, RenewBody},
};
use crate::{deliveries::FinishHow, problem::Problem, shared::HandlerState};

/// Acknowledges an item: it is done, and leaves the queue.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/acknowledge", operation_id = "acknowledge", tag = "queues",
    params(OfDelivery),
    responses((status = 204, description = "It is done."), Problem)
)]
pub(super) async fn acknowledge(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfDelivery { delivery: word }): FromPath<OfDelivery>,
) -> Result<StatusCode, Problem> {
    inner.deliveries.finish(&word, FinishHow::Acknowledge).await
}

/// The reason why a delivery failed, and the time of the next try.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FailBody {
    /// The reason of the failure, which is kept in the item's history. Default: empty.
    reason: String,
    /// How long to wait before any worker is given the item again, in milliseconds; at most a day.
    /// Default: 0.
    #[schema(maximum = 86_400_000)]
    delay_ms: u64,
}

/// Reports that a delivery failed. The item is delivered again, or is dead after its last delivery.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/fail", operation_id = "fail", tag = "queues",
    params(OfDelivery), request_body = FailBody,
    responses((status = 204, description = "It is noted."), Problem)
)]
pub(super) async fn fail(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfDelivery { delivery: word }): FromPath<OfDelivery>,
    Body(failure): Body<FailBody>,
) -> Result<StatusCode, Problem> {
    let delay = duration("delay_ms", failure.delay_ms, DELAYS)?;
    inner.deliveries.finish(&word, FinishHow::Fail(failure.reason, delay)).await
}

/// The time of the next delivery.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Back {
    /// How long to wait before any worker is given the item again, in milliseconds; at most a day.
    /// Default: 0.
    #[schema(maximum = 86_400_000)]
    delay_ms: u64,
}

/// Gives an item back. The delivery does not count.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/give-back", operation_id = "giveBack", tag = "queues",
    params(OfDelivery), request_body = Back,
    responses((status = 204, description = "It is back."), Problem)
)]
pub(super) async fn give_back(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfDelivery { delivery: word }): FromPath<OfDelivery>,
    Body(back): Body<Back>,
) -> Result<StatusCode, Problem> {
    let delay = duration("delay_ms", back.delay_ms, DELAYS)?;
    inner.deliveries.finish(&word, FinishHow::GiveBack(delay)).await
}

/// Keeps an item in hand for longer.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/renew", operation_id = "renewDelivery", tag = "queues",
    params(OfDelivery), request_body = RenewBody,
    responses((status = 204, description = "It is held for so long from now."), Problem)
)]
pub(super) async fn renew(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfDelivery { delivery: word }): FromPath<OfDelivery>,
    Body(lease): Body<RenewBody>,
) -> Result<StatusCode, Problem> {
    let ttl = lease.ttl()?;
    inner.deliveries.renew(&word, ttl).await
}
