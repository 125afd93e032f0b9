//! Names, their holders and their waiters, for programs.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use seinpaal::{Name, Semaphore};
use seinpaal_words::json::{Explained, NameJson, Shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::{IntoParams, ToSchema};

use super::{
    address::{OfName, OfTicket},
    body::{FromPath, FromQuery, ticket},
};
use crate::{problem::Problem, shared::HandlerState, source::StoreSource};

/// The pause between two readings for a stream of events.
const INTERVAL: Duration = Duration::from_secs(1);
const MOST_ROWS: usize = 1000;
const ROWS: usize = 100;

/// The part of a list to answer with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// The text with which all listed names begin. Default: all names.
    prefix: Option<String>,
    /// The value of `next` in the previous page, which is its last name. Default: from the
    /// beginning.
    after: Option<String>,
    /// How many rows the page has at most. Default: 100.
    #[param(minimum = 1, maximum = 1000)]
    rows: Option<usize>,
}

/// A part of the list of names.
#[derive(Serialize, ToSchema)]
pub(super) struct NamesPage<'a> {
    /// The names of this page, in their order.
    names: Vec<NameJson<'a>>,
    /// The value of `after` for the next page. `null`: this is the last page.
    next: Option<&'a str>,
}

/// Lists the names that are in use or configured.
#[utoipa::path(
    get, path = "/names", operation_id = "listNames", tag = "names", params(PageQuery),
    responses((status = 200, body = NamesPage<'_>), Problem)
)]
pub(super) async fn list(
    State(inner): State<Arc<HandlerState>>,
    FromQuery(page): FromQuery<PageQuery>,
) -> Result<Response, Problem> {
    let rows = page.rows()?;
    let all = inner.lists.names().await?;
    let (shown, next) = page.of(&all, rows, |row| row.name.as_str());
    let names = shown.iter().map(|row| NameJson::new(row)).collect();
    Ok(Json(NamesPage { names, next }).into_response())
}

impl PageQuery {
    pub(super) fn rows(&self) -> Result<usize, Problem> {
        let rows = self.rows.unwrap_or(ROWS);
        let words = format!("rows is {rows}, and may be 1 to {MOST_ROWS}");
        if (1..=MOST_ROWS).contains(&rows) { Ok(rows) } else { Err(Problem::bad(words)) }
    }

    /// Returns the rows of this page, and the name after which the next page begins. Stores list in
    /// the order of names.
    pub(super) fn of<'a, T>(
        &self,
        all: &'a [T],
        rows: usize,
        name: impl Fn(&'a T) -> &'a str,
    ) -> (Vec<&'a T>, Option<&'a str>) {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let is_after = |row: &str| self.after.as_deref().is_none_or(|after| row > after);
        let is_wanted = |row: &&'a T| name(row).starts_with(prefix) && is_after(name(row));
        let mut wanted: Vec<&T> = all.iter().filter(is_wanted).collect();
        let has_more = wanted.len() > rows;
        wanted.truncate(rows);
        let next = wanted.last().filter(|_| has_more).map(|row| name(row));
        (wanted, next)
    }
}

/// Shows one name: its holders, and its waiters in order.
#[utoipa::path(
    get, path = "/names/{name}", operation_id = "showName", tag = "names",
    params(OfName),
    responses((status = 200, body = Shown<'_>), Problem)
)]
pub(super) async fn show(
    State(inner): State<Arc<HandlerState>>,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<Response, Problem> {
    let mut seen = semaphore(&inner, &name)?.snapshot().await?;
    inner.history.learn(&mut seen);
    Ok(Json(Shown::new(&seen)).into_response())
}

/// Explains why a ticket waits, and estimates when it is served.
#[utoipa::path(
    get, path = "/names/{name}/tickets/{ticket}", operation_id = "whyTicket", tag = "names",
    params(OfTicket),
    responses((status = 200, body = Explained<'_>), Problem)
)]
pub(super) async fn why(
    State(inner): State<Arc<HandlerState>>,
    FromPath(OfTicket { name, ticket: of }): FromPath<OfTicket>,
) -> Result<Response, Problem> {
    let of = ticket(&of)?;
    let mut seen = semaphore(&inner, &name)?.snapshot().await?;
    inner.history.learn(&mut seen);
    let why = seen.why(&of).ok_or_else(|| Problem::not_found("no such ticket holds or waits"))?;
    Ok(Json(Explained::new(&seen, of, &why)).into_response())
}

/// Sends the answer of `showName` as server-sent events named `shown`: at once, and then after each
/// change. The program reads the store once a second. Passing time alone is no change.
#[utoipa::path(
    get, path = "/names/{name}/events", operation_id = "watchName", tag = "names",
    params(OfName),
    responses((status = 200, body = String, content_type = "text/event-stream"), Problem)
)]
pub(super) async fn events(
    State(inner): State<Arc<HandlerState>>,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<Response, Problem> {
    let place = place(&inner)?;
    let source = Arc::clone(&inner.source);
    let watched =
        WatchedName { semaphore: semaphore(&inner, &name)?, source, told: None, _place: place };
    let unbuffered = [("x-accel-buffering", "no")];
    let events = stream::unfold(watched, |mut watched| async move {
        let event = watched.next().await;
        Some((Ok::<_, Infallible>(event), watched))
    });
    Ok((unbuffered, Sse::new(events).keep_alive(KeepAlive::default())).into_response())
}

/// Takes a place for one more open answer, if one is left.
pub(super) fn place(inner: &HandlerState) -> Result<OwnedSemaphorePermit, Problem> {
    let place = Arc::clone(&inner.streams).try_acquire_owned();
    place.map_err(|_| Problem::unavailable("too many streams and waits are open here"))
}

pub(super) fn semaphore(inner: &HandlerState, name: &str) -> Result<Semaphore, Problem> {
    Name::new(name).map_err(Problem::bad)?;
    Ok(inner.seinpaal.semaphore(name))
}

struct WatchedName {
    semaphore: Semaphore,
    source: Arc<StoreSource>,
    /// The last event that was sent, without its times.
    told: Option<Value>,
    _place: OwnedSemaphorePermit,
}

impl WatchedName {
    /// Returns the next event, once something has changed. An error of the store is an event, too,
    /// and is sent once.
    async fn next(&mut self) -> Event {
        loop {
            let (kind, seen) = match self.semaphore.snapshot().await {
                Ok(mut seen) => {
                    self.source.history.learn(&mut seen);
                    ("shown", serde_json::to_value(Shown::new(&seen)))
                }
                Err(error) => ("problem", serde_json::to_value(Problem::from(error))),
            };
            let seen = seen.unwrap_or_default();
            let timeless = timeless(seen.clone());
            if self.told.as_ref() != Some(&timeless) {
                self.told = Some(timeless);
                return Event::default().event(kind).data(seen.to_string());
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

/// Returns the answer without the fields that change by themselves: times and estimates.
fn timeless(mut seen: Value) -> Value {
    match &mut seen {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.ends_with("_ms") && key != "estimate");
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(rows) => rows.iter_mut().for_each(|row| *row = timeless(row.take())),
        _ => {}
    }
    seen
}
