//! Lists of items, page by page.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use seinpaal::{ItemCursor, ItemState};
use seinpaal_words::json::queue::ItemJson;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    address::OfName,
    body::{FromPath, FromQuery},
    letters::matching,
    queues::queue,
};
use crate::{problem::Problem, shared::HandlerState};

const MOST_ROWS: u32 = 1000;
const ROWS: u32 = 100;

/// The part of the list to answer with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ItemListPart {
    /// The state of the items.
    #[param(inline)]
    state: StateToList,
    /// A text that the item contains: in its number, its group, a label (`KEY=VALUE`), the program
    /// or host of the client that pushed it or works on it, the end of a delivery, or the beginning
    /// of the payload. All items of the state if it is left out.
    #[param(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    matching: Option<String>,
    /// The value of `next` in the previous part of the same state. Default: from the beginning.
    #[param(max_length = 600, pattern = r"^[degox]:-?[0-9]+:[0-9]+:[^\x00-\x1f\x7f-\x9f]*$")]
    after: Option<String>,
    /// How many items this part looks at, at most. Default: 100.
    #[param(minimum = 1, maximum = 1000)]
    rows: Option<u32>,
}

/// The state of items.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum StateToList {
    Ready,
    Delayed,
    InWork,
    Dead,
}

impl StateToList {
    fn state(self) -> ItemState {
        match self {
            Self::Ready => ItemState::Ready,
            Self::Delayed => ItemState::Delayed,
            Self::InWork => ItemState::InWork,
            Self::Dead => ItemState::Dead,
        }
    }
}

/// Items of one state.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedItems)]
pub(super) struct ItemsAnswer<'a> {
    /// The items that match, in order. Ready items with a group come first, and then those without,
    /// each in the order of delivery. Delayed items are in the order in which they become due,
    /// items in work in the order in which their leases end, and dead letters in the order of their
    /// numbers.
    items: Vec<ItemJson<'a>>,
    /// The value of `after` for the next part. `null`: this is the last part.
    next: Option<String>,
}

/// Lists the items of a queue that are in one state.
#[utoipa::path(
    get, path = "/queues/{name}/items", operation_id = "listItems", tag = "queues", params(OfName, ItemListPart),
    responses((status = 200, body = ItemsAnswer<'_>), Problem)
)]
pub(super) async fn list(
    State(inner): State<Arc<HandlerState>>,
    FromPath(OfName { name }): FromPath<OfName>,
    FromQuery(part): FromQuery<ItemListPart>,
) -> Result<Response, Problem> {
    let (rows, state) = (part.rows.unwrap_or(ROWS), part.state.state());
    if !(1..=MOST_ROWS).contains(&rows) {
        return Err(Problem::bad(format!("rows is {rows}, and may be 1 to {MOST_ROWS}")));
    }
    let after = part.after.as_deref().map(|text| place(text, state)).transpose()?;
    let matching = matching(&inner, part.matching)?;
    let mut page = queue(&inner, &name)?.items(state, after.as_ref(), rows).await?;
    page.items.retain(|item| matching.has(item));
    if !inner.options.payloads {
        page.items.iter_mut().for_each(|item| item.payload.clear());
    }
    let items = page.items.iter().map(ItemJson::new).collect();
    let next = page.next.map(|next| next.to_string());
    Ok(Json(ItemsAnswer { items, next }).into_response())
}

fn place(text: &str, state: ItemState) -> Result<ItemCursor, Problem> {
    let place = text.parse().ok().filter(|place: &ItemCursor| place.state() == state);
    place.ok_or_else(|| {
        Problem::bad(format!("after must be the value of next in a list of {state} items"))
    })
}
