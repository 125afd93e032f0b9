//! What an operator changes of a name. Each is an entry among the changes, as on the pages.

use std::{fmt::Display, sync::Arc};

use axum::{Extension, extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    body::{At, Body, FromHere, ticket},
    names::semaphore,
};
use crate::{
    access::Visitor,
    audit::{self, Change},
    problem::Problem,
    shared::Inner,
};

/// A limit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Number {
    /// How many may hold at once; 0 stops all grants.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub(super) limit: u32,
}

/// Why something is done. Others read it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Because {
    /// 1 to 200 characters, none of them a control character.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    reason: String,
}

impl Because {
    pub(super) fn checked(self) -> Result<String, Problem> {
        let is_plain = !self.reason.chars().any(char::is_control);
        let is_short = (1..=200).contains(&self.reason.trim().chars().count());
        let words = "a reason has 1 to 200 characters, none of them a control character";
        if is_plain && is_short { Ok(self.reason) } else { Err(Problem::bad(words)) }
    }
}

/// What was done, for the list of changes.
pub(super) struct Deed<'a> {
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
    pub(super) what: String,
    pub(super) reason: String,
}

impl Deed<'_> {
    /// Writes down how it went, and says so.
    pub(super) fn note<E: Display>(
        self,
        inner: &Inner,
        visitor: &Visitor,
        done: Result<(), E>,
    ) -> Result<StatusCode, Problem>
    where
        Problem: From<E>,
    {
        let result = done.as_ref().err().map_or_else(String::new, ToString::to_string);
        let noted = inner.audit.note(Change {
            at: audit::now(),
            who: visitor.who.clone(),
            kind: self.kind,
            name: self.name.to_owned(),
            what: self.what,
            reason: self.reason,
            result,
        });
        done?;
        let unwritten =
            |error| Problem::unknown(format!("it was done, but not written down: {error}"));
        noted.map_err(unwritten)?;
        Ok(StatusCode::NO_CONTENT)
    }
}

pub(super) fn may_operate(visitor: &Visitor) -> Result<(), Problem> {
    if visitor.may_act { Ok(()) } else { Err(Problem::not_an_operator()) }
}

fn deed<'a>(name: &'a str, what: impl Into<String>, reason: &str) -> Deed<'a> {
    Deed { kind: "name", name, what: what.into(), reason: reason.to_owned() }
}

/// Sets the limit of a name for all, until it is unset.
#[utoipa::path(
    put, path = "/names/{name}/limit", operation_id = "setLimit", tag = "operate",
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
    let done = semaphore(&inner, &name)?.set_limit(number.limit).await;
    deed(&name, format!("limit {}", number.limit), "").note(&inner, &visitor, done)
}

/// Unsets the limit of a name: from then on the limit is what those who use it state.
#[utoipa::path(
    delete, path = "/names/{name}/limit", operation_id = "unsetLimit", tag = "operate",
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
    let done = semaphore(&inner, &name)?.unset_limit().await;
    deed(&name, "limit unset", "").note(&inner, &visitor, done)
}

/// Grants nothing of a name until it is resumed. Who holds keeps what is held.
#[utoipa::path(
    put, path = "/names/{name}/pause", operation_id = "pause", tag = "operate",
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
    let done = semaphore(&inner, &name)?.pause(&reason).await;
    deed(&name, "pause", &reason).note(&inner, &visitor, done)
}

/// Ends a pause.
#[utoipa::path(
    delete, path = "/names/{name}/pause", operation_id = "resume", tag = "operate",
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
    let done = semaphore(&inner, &name)?.resume().await;
    deed(&name, "resume", "").note(&inner, &visitor, done)
}

/// Ends the lease or the wait of somebody else. Its holder is told that it is lost.
#[utoipa::path(
    post, path = "/names/{name}/tickets/{ticket}/evict", operation_id = "evict", tag = "operate",
    params(
        ("name" = String, Path, description = "1 to 512 bytes without control characters.", min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$"),
        ("ticket" = String, Path, description = "As `acquire` said.", pattern = "^[0-9a-f]{32}$")
    ),
    request_body = Because,
    responses((status = 204, description = "It is evicted."), Problem)
)]
pub(super) async fn evict(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At((name, of)): At<(String, String)>,
    _here: FromHere,
    Body(because): Body<Because>,
) -> Result<StatusCode, Problem> {
    may_operate(&visitor)?;
    let (of, reason) = (ticket(&of)?, because.checked()?);
    let done = semaphore(&inner, &name)?.evict(of).await;
    deed(&name, format!("evict {of}"), &reason).note(&inner, &visitor, done)
}
