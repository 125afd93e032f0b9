//! An operator's changes of items: of one item, or of all items that match. Each change is written
//! into the audit, as on the pages.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use seinpaal::{ItemId, ItemState};
use seinpaal_words::matching::{MOST, Matching};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    address::{OfItem, OfName},
    body::{Body, FromPath, Operator},
    queues::queue,
    steer::{ReasonBody, make, make_counted},
};
use crate::{
    access::Visitor,
    deed::{QueueDeed, WebDeed},
    problem::Problem,
    shared::HandlerState,
};

/// No item has a higher number than this.
const UNBOUNDED: u64 = 1 << 53;

/// The items to change, and the reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchingBody {
    /// A text that the item contains, in one of the fields that `listItems` names. All items if it
    /// is left out.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    matching: Option<String>,
    /// The reason, which others can read: 1 to 200 characters, none of them a control character.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    reason: String,
}

/// The items to cancel, and the reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CancelBody {
    /// The state of the items.
    state: StateToCancel,
    /// A text that the item contains, in one of the fields that `listItems` names. All items of the
    /// state if it is left out.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    matching: Option<String>,
    /// The reason, which others can read: 1 to 200 characters, none of them a control character.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    reason: String,
}

/// The state of items that can be cancelled.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum StateToCancel {
    Ready,
    Delayed,
    InWork,
}

impl StateToCancel {
    fn state(self) -> ItemState {
        match self {
            Self::Ready => ItemState::Ready,
            Self::Delayed => ItemState::Delayed,
            Self::InWork => ItemState::InWork,
        }
    }
}

/// The number of items that a change concerned.
#[derive(Serialize, ToSchema)]
pub(super) struct Touched {
    /// How many items were changed.
    items: u64,
}

impl MatchingBody {
    fn checked(self, inner: &HandlerState) -> Result<(Matching, String), Problem> {
        let matching = matching(inner, self.matching)?;
        Ok((matching, ReasonBody { reason: self.reason }.checked()?))
    }
}

pub(super) fn matching(inner: &HandlerState, text: Option<String>) -> Result<Matching, Problem> {
    let text = text.unwrap_or_default();
    if text.chars().count() > MOST || text.chars().any(char::is_control) {
        let words = "matching has at most 200 characters, none of them a control character";
        return Err(Problem::bad(words));
    }
    Ok(Matching { text, with_payloads: inner.options.payloads, counted: None })
}

fn item(number: u64) -> Result<ItemId, Problem> {
    let words = "there is no such item: its number is too high";
    if number <= UNBOUNDED { Ok(ItemId(number)) } else { Err(Problem::bad(words)) }
}

/// Replays a dead letter: it becomes an item again, at the end of the line, with all its deliveries
/// left.
#[utoipa::path(
    post, path = "/queues/{name}/dead/{item}/replay", operation_id = "replay", tag = "operate", params(OfItem),
    responses((status = 204, description = "It is an item again."), Problem)
)]
pub(super) async fn replay(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfItem { name, item: of }): FromPath<OfItem>,
) -> Result<StatusCode, Problem> {
    let deed = WebDeed::Queue(QueueDeed::Replay(item(of)?));
    make(&inner, &visitor, &name, deed, String::new()).await
}

/// Forgets a dead letter, with its payload.
#[utoipa::path(
    post, path = "/queues/{name}/dead/{item}/drop", operation_id = "drop", tag = "operate", params(OfItem), request_body = ReasonBody,
    responses((status = 204, description = "It is forgotten."), Problem)
)]
pub(super) async fn drop_one(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfItem { name, item: of }): FromPath<OfItem>,
    Body(because): Body<ReasonBody>,
) -> Result<StatusCode, Problem> {
    let deed = WebDeed::Queue(QueueDeed::Drop(item(of)?));
    make(&inner, &visitor, &name, deed, because.checked()?).await
}

/// Takes an item out of the queue, unless it is dead. Its worker is told at once.
#[utoipa::path(
    post, path = "/queues/{name}/items/{item}/cancel", operation_id = "cancel", tag = "operate", params(OfItem), request_body = ReasonBody,
    responses((status = 204, description = "It is taken out."), Problem)
)]
pub(super) async fn cancel(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfItem { name, item: of }): FromPath<OfItem>,
    Body(because): Body<ReasonBody>,
) -> Result<StatusCode, Problem> {
    let deed = WebDeed::Queue(QueueDeed::Cancel(item(of)?));
    make(&inner, &visitor, &name, deed, because.checked()?).await
}

/// Replays all dead letters that match.
#[utoipa::path(
    post, path = "/queues/{name}/dead/replay", operation_id = "replayAll", tag = "operate", params(OfName), request_body = MatchingBody,
    responses((status = 200, body = Touched), Problem)
)]
pub(super) async fn replay_all(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(which): Body<MatchingBody>,
) -> Result<Response, Problem> {
    let (matching, reason) = which.checked(&inner)?;
    touch(&inner, &visitor, &name, QueueDeed::ReplayAll(matching), reason).await
}

/// Forgets all dead letters that match, with their payloads.
#[utoipa::path(
    post, path = "/queues/{name}/dead/drop", operation_id = "dropAll", tag = "operate", params(OfName), request_body = MatchingBody,
    responses((status = 200, body = Touched), Problem)
)]
pub(super) async fn drop_all(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(which): Body<MatchingBody>,
) -> Result<Response, Problem> {
    let (matching, reason) = which.checked(&inner)?;
    touch(&inner, &visitor, &name, QueueDeed::DropAll(matching), reason).await
}

/// Takes all items of a state that match out of the queue. Workers that have one of these items are
/// told at once.
#[utoipa::path(
    post, path = "/queues/{name}/items/cancel", operation_id = "cancelAll", tag = "operate", params(OfName), request_body = CancelBody,
    responses((status = 200, body = Touched), Problem)
)]
pub(super) async fn cancel_all(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(CancelBody { state, matching, reason }): Body<CancelBody>,
) -> Result<Response, Problem> {
    let (matching, reason) = MatchingBody { matching, reason }.checked(&inner)?;
    let state = state.state();
    // The count marks the items that are there now. Items that come later stay.
    let counted = matching.count(&queue(&inner, &name)?, state).await?;
    let deed = QueueDeed::CancelAll(state, Matching { counted: Some(counted), ..matching });
    touch(&inner, &visitor, &name, deed, reason).await
}

/// Takes out all items that are ready or delayed. Items in work and dead letters stay.
#[utoipa::path(
    post, path = "/queues/{name}/purge", operation_id = "purge", tag = "operate", params(OfName), request_body = ReasonBody,
    responses((status = 200, body = Touched), Problem)
)]
pub(super) async fn purge(
    State(inner): State<Arc<HandlerState>>,
    Operator(visitor): Operator,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(because): Body<ReasonBody>,
) -> Result<Response, Problem> {
    touch(&inner, &visitor, &name, QueueDeed::Purge, because.checked()?).await
}

/// Makes a change, and answers with the number of items that it concerned.
async fn touch(
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    name: &str,
    deed: QueueDeed,
    reason: String,
) -> Result<Response, Problem> {
    let items = make_counted(inner, visitor, name, WebDeed::Queue(deed), reason).await?;
    Ok(Json(Touched { items }).into_response())
}
