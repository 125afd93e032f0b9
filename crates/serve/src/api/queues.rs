//! Queues: how they stand, and what an operator changes of one.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use seinpaal::{Name, Queue};
use seinpaal_words::json::queue::Row;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    body::{Asked, At, Body, FromHere},
    names::Page,
    steer::{Because, Deed, Number, may_operate},
};
use crate::{access::Visitor, problem::Problem, shared::Inner};

/// A part of the list of queues.
#[derive(Serialize, ToSchema)]
pub(super) struct Queues<'a> {
    /// In the order of their names.
    queues: Vec<Row<'a>>,
    /// What to send as `after` for the next page; `null` after the last.
    next: Option<&'a str>,
}

/// The queues that there are.
#[utoipa::path(
    get, path = "/queues", operation_id = "listQueues", tag = "queues", params(Page),
    responses((status = 200, body = Queues<'_>), Problem)
)]
pub(super) async fn list(
    State(inner): State<Arc<Inner>>,
    Asked(page): Asked<Page>,
) -> Result<Response, Problem> {
    let rows = page.rows()?;
    let all = inner.lists.queues().await?;
    let (shown, next) = page.of(&all, rows, |row| row.name.as_str());
    let queues = shown.iter().map(|row| Row::new(row)).collect();
    Ok(Json(Queues { queues, next }).into_response())
}

/// One queue, in numbers.
#[utoipa::path(
    get, path = "/queues/{name}", operation_id = "showQueue", tag = "queues",
    params(("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")),
    responses((status = 200, body = Row<'_>), Problem)
)]
pub(super) async fn show(
    State(inner): State<Arc<Inner>>,
    At(name): At<String>,
) -> Result<Response, Problem> {
    let seen = queue(&inner, &name)?.snapshot().await?;
    Ok(Json(Row::new(&seen)).into_response())
}

pub(super) fn queue(inner: &Inner, name: &str) -> Result<Queue, Problem> {
    Name::new(name).map_err(Problem::bad)?;
    Ok(inner.seinpaal.queue(name))
}

fn deed<'a>(name: &'a str, what: impl Into<String>, reason: &str) -> Deed<'a> {
    Deed { kind: "queue", name, what: what.into(), reason: reason.to_owned() }
}

/// Sets how many items may be in work at once.
#[utoipa::path(
    put, path = "/queues/{name}/limit", operation_id = "setQueueLimit", tag = "operate",
    params(("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")), request_body = Number,
    responses((status = 204, description = "It is set."), Problem)
)]
pub(super) async fn set_limit(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(name): At<String>,
    _here: FromHere,
    Body(number): Body<Number>,
) -> Result<StatusCode, Problem> {
    may_operate(&visitor)?;
    let done = queue(&inner, &name)?.limit(Some(number.limit)).await;
    deed(&name, format!("limit {}", number.limit), "").note(&inner, &visitor, done)
}

/// Lets any number of items be in work at once.
#[utoipa::path(
    delete, path = "/queues/{name}/limit", operation_id = "unsetQueueLimit", tag = "operate",
    params(("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")),
    responses((status = 204, description = "It is unset."), Problem)
)]
pub(super) async fn unset_limit(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(name): At<String>,
    _here: FromHere,
) -> Result<StatusCode, Problem> {
    may_operate(&visitor)?;
    let done = queue(&inner, &name)?.limit(None).await;
    deed(&name, "limit unset", "").note(&inner, &visitor, done)
}

/// Gives no items to anybody until it is resumed.
#[utoipa::path(
    put, path = "/queues/{name}/pause", operation_id = "pauseQueue", tag = "operate",
    params(("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")), request_body = Because,
    responses((status = 204, description = "It is paused."), Problem)
)]
pub(super) async fn pause(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(name): At<String>,
    _here: FromHere,
    Body(because): Body<Because>,
) -> Result<StatusCode, Problem> {
    may_operate(&visitor)?;
    let reason = because.checked()?;
    let done = queue(&inner, &name)?.pause(&reason).await;
    deed(&name, "pause", &reason).note(&inner, &visitor, done)
}

/// Ends a pause.
#[utoipa::path(
    delete, path = "/queues/{name}/pause", operation_id = "resumeQueue", tag = "operate",
    params(("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")),
    responses((status = 204, description = "It is resumed."), Problem)
)]
pub(super) async fn resume(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(name): At<String>,
    _here: FromHere,
) -> Result<StatusCode, Problem> {
    may_operate(&visitor)?;
    let done = queue(&inner, &name)?.resume().await;
    deed(&name, "resume", "").note(&inner, &visitor, done)
}
