//! The figures of queues, for programs.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use seinpaal::{Name, Queue};
use seinpaal_words::json::queue::QueueJson;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    address::OfName,
    body::{FromPath, FromQuery},
    names::PageQuery,
};
use crate::{problem::Problem, shared::HandlerState};

/// A part of the list of queues.
#[derive(Serialize, ToSchema)]
pub(super) struct QueuesPage<'a> {
    /// The queues of this page, in the order of their names.
    queues: Vec<QueueJson<'a>>,
    /// The value of `after` for the next page. `null`: this is the last page.
    next: Option<&'a str>,
}

/// Lists the queues.
#[utoipa::path(
    get, path = "/queues", operation_id = "listQueues", tag = "queues", params(PageQuery),
    responses((status = 200, body = QueuesPage<'_>), Problem)
)]
pub(super) async fn list(
    State(inner): State<Arc<HandlerState>>,
    FromQuery(page): FromQuery<PageQuery>,
) -> Result<Response, Problem> {
    let rows = page.rows()?;
    let all = inner.lists.queues().await?;
    let (shown, next) = page.of(&all, rows, |row| row.name.as_str());
    let queues = shown.iter().map(|row| QueueJson::new(row)).collect();
    Ok(Json(QueuesPage { queues, next }).into_response())
}

/// Shows the figures of one queue.
#[utoipa::path(
    get, path = "/queues/{name}", operation_id = "showQueue", tag = "queues",
    params(OfName),
    responses((status = 200, body = QueueJson<'_>), Problem)
)]
pub(super) async fn show(
    State(inner): State<Arc<HandlerState>>,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<Response, Problem> {
    let seen = queue(&inner, &name)?.snapshot().await?;
    Ok(Json(QueueJson::new(&seen)).into_response())
}

pub(super) fn queue(inner: &HandlerState, name: &str) -> Result<Queue, Problem> {
    Name::new(name).map_err(Problem::bad)?;
    Ok(inner.seinpaal.queue(name))
}
