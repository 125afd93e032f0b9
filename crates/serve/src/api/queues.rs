//! Queues: how they stand, and what an operator changes of one.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use seinpaal::{Name, Queue};
use seinpaal_words::json::queue::Row;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    address::OfName,
    body::{Asked, At},
    names::Page,
};
use crate::{problem::Problem, shared::Inner};

/// A part of the list of queues.
#[derive(Serialize, ToSchema)]
pub(super) struct Queues<'a> {
    /// In the order of their names.
    queues: Vec<Row<'a>>,
    /// The value of `after` for the next page; `null` after the last.
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
    params(OfName),
    responses((status = 200, body = Row<'_>), Problem)
)]
pub(super) async fn show(
    State(inner): State<Arc<Inner>>,
    At(OfName { name }): At<OfName>,
) -> Result<Response, Problem> {
    let seen = queue(&inner, &name)?.snapshot().await?;
    Ok(Json(Row::new(&seen)).into_response())
}

pub(super) fn queue(inner: &Inner, name: &str) -> Result<Queue, Problem> {
    Name::new(name).map_err(Problem::bad)?;
    Ok(inner.seinpaal.queue(name))
}
