//! The changes of an operator. Each change is written into the audit, as on the pages.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use seinpaal::{MAX_TTL, MIN_TTL, Name, Permits, SlotNames};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    address::{OfName, OfTicket},
    body::{Body, FromPath, Operator, duration, ticket},
    permits::SlotName,
};
use crate::{
    access::Visitor,
    carry::carry_out,
    deed::{NameDeed, QueueDeed, Undone, WebDeed, is_reason},
    problem::Problem,
    shared::HandlerState,
};

/// A limit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Number {
    /// How many permits may be held, or items may be in work, at once. 0: none are given out.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    limit: u32,
}

/// The names of the slots of a name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SlotNamesBody {
    /// The names from slot 0 up, all different. Their number becomes the limit.
    #[schema(min_items = 1, max_items = 1000)]
    slot_names: Vec<SlotName>,
}

/// The reason of a change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReasonBody {
    /// The reason, which others can read: 1 to 200 characters, none of them a control character.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    pub(super) reason: String,
}

impl ReasonBody {
    pub(super) fn checked(self) -> Result<String, Problem> {
        let is_there = !self.reason.trim().is_empty();
        let words = "a reason has 1 to 200 characters, none of them a control character";
        if is_there && is_reason(&self.reason) { Ok(self.reason) } else { Err(Problem::bad(words)) }
    }
}

/// Permits to hold for the person who asks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReserveBody {
    /// How many permits to hold, which must be free.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    permits: u32,
    /// How long to hold the permits, in milliseconds: 100 to a day. The lease is not renewed.
    #[schema(minimum = 100, maximum = 86_400_000)]
    for_ms: u64,
    /// The reason, which others can read: 1 to 200 characters, none of them a control character.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    reason: String,
}

/// Makes a change, and answers without a body.
pub(super) async fn make(
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    name: &str,
    deed: WebDeed,
    reason: String,
) -> Result<StatusCode, Problem> {
    make_counted(inner, visitor, name, deed, reason).await.map(|_| StatusCode::NO_CONTENT)
}

/// Makes a change as [`make`] does, and returns how many items it concerned, or 0 if the change
/// does not say.
pub(super) async fn make_counted(
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    name: &str,
    deed: WebDeed,
    reason: String,
) -> Result<u64, Problem> {
    Name::new(name).map_err(Problem::bad)?;
    let done = carry_out(deed, inner, visitor, name, &reason).await;
    done.map(Option::unwrap_or_default).map_err(|undone| match undone {
        Undone::Name(error) => error.into(),
        Undone::Queue(error) => error.into(),
        Undone::NotThere(error) => Problem::conflict("not on this store", error),
        Undone::NotFree(words) => Problem::conflict("not free", words),
        Undone::Unwritten(_) | Undone::BrokenOff => Problem::unknown(undone),
    })
}

/// Sets the limit of a name for all callers, until it is unset.
#[utoipa::path(
    put, path = "/names/{name}/limit", operation_id = "setLimit", tag = "operate", params(OfName), request_body = Number,
    responses((status = 204, description = "It is set."), Problem)
)]
pub(super) async fn set_limit(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(number): Body<Number>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Limit(Some(number.limit))), String::new())
        .await
}

/// Unsets the limit of a name. From then on the limit that its callers state is in force.
#[utoipa::path(
    delete, path = "/names/{name}/limit", operation_id = "unsetLimit", tag = "operate", params(OfName),
    responses((status = 204, description = "It is unset."), Problem)
)]
pub(super) async fn unset_limit(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Limit(None)), String::new()).await
}

/// Names the slots of a name, and sets the limit to their number, until it is unset.
#[utoipa::path(
    put, path = "/names/{name}/slots", operation_id = "nameSlots", tag = "operate", params(OfName), request_body = SlotNamesBody,
    responses((status = 204, description = "They are called so."), Problem)
)]
pub(super) async fn set_slots(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(named): Body<SlotNamesBody>,
) -> Result<StatusCode, Problem> {
    let names = named.slot_names.into_iter().map(String::from);
    let names = SlotNames::new(names).map_err(Problem::bad)?;
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Slots(names)), String::new()).await
}

/// Pauses a name: it grants no permits until it is resumed. Holders keep their permits.
#[utoipa::path(
    put, path = "/names/{name}/pause", operation_id = "pause", tag = "operate", params(OfName), request_body = ReasonBody,
    responses((status = 204, description = "It is paused."), Problem)
)]
pub(super) async fn pause(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(because): Body<ReasonBody>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Pause), because.checked()?).await
}

/// Ends a pause.
#[utoipa::path(
    delete, path = "/names/{name}/pause", operation_id = "resume", tag = "operate", params(OfName),
    responses((status = 204, description = "It is resumed."), Problem)
)]
pub(super) async fn resume(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Resume), String::new()).await
}

/// Ends the lease or the wait of another client. A holder is told that its permits are lost.
#[utoipa::path(
    post, path = "/names/{name}/tickets/{ticket}/evict", operation_id = "evict", tag = "operate", params(OfTicket), request_body = ReasonBody,
    responses((status = 204, description = "It is evicted."), Problem)
)]
pub(super) async fn evict(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfTicket { name, ticket: of }): FromPath<OfTicket>,
    Body(because): Body<ReasonBody>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Evict(ticket(&of)?)), because.checked()?)
        .await
}

/// Reserves permits for a person, with a reason and until a time. The permits have to be free.
/// Evicting the ticket ends the reservation sooner.
#[utoipa::path(
    post, path = "/names/{name}/reserve", operation_id = "reserve", tag = "operate", params(OfName), request_body = ReserveBody,
    responses((status = 204, description = "They are reserved."), Problem)
)]
pub(super) async fn reserve(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(wanted): Body<ReserveBody>,
) -> Result<StatusCode, Problem> {
    let permits = Permits::new(wanted.permits).map_err(Problem::bad)?.get();
    let length = duration("for_ms", wanted.for_ms, MIN_TTL..=MAX_TTL)?;
    let reason = ReasonBody { reason: wanted.reason }.checked()?;
    make(&inner, &visitor, &name, WebDeed::Name(NameDeed::Reserve(permits, length)), reason).await
}

/// Sets how many items may be in work at once.
#[utoipa::path(
    put, path = "/queues/{name}/limit", operation_id = "setQueueLimit", tag = "operate", params(OfName), request_body = Number,
    responses((status = 204, description = "It is set."), Problem)
)]
pub(super) async fn set_queue_limit(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(number): Body<Number>,
) -> Result<StatusCode, Problem> {
    make(
        &inner,
        &visitor,
        &name,
        WebDeed::Queue(QueueDeed::Limit(Some(number.limit))),
        String::new(),
    )
    .await
}

/// Lets any number of items be in work at once.
#[utoipa::path(
    delete, path = "/queues/{name}/limit", operation_id = "unsetQueueLimit", tag = "operate", params(OfName),
    responses((status = 204, description = "It is unset."), Problem)
)]
pub(super) async fn unset_queue_limit(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Queue(QueueDeed::Limit(None)), String::new()).await
}

/// Pauses a queue: it delivers no items until it is resumed.
#[utoipa::path(
    put, path = "/queues/{name}/pause", operation_id = "pauseQueue", tag = "operate", params(OfName), request_body = ReasonBody,
    responses((status = 204, description = "It is paused."), Problem)
)]
pub(super) async fn pause_queue(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(because): Body<ReasonBody>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Queue(QueueDeed::Pause), because.checked()?).await
}

/// Ends a pause.
#[utoipa::path(
    delete, path = "/queues/{name}/pause", operation_id = "resumeQueue", tag = "operate", params(OfName),
    responses((status = 204, description = "It is resumed."), Problem)
)]
pub(super) async fn resume_queue(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
) -> Result<StatusCode, Problem> {
    make(&inner, &visitor, &name, WebDeed::Queue(QueueDeed::Resume), String::new()).await
}
