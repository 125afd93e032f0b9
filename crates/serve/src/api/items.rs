//! Items: pushing them, and giving them to workers.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use seinpaal::{Item, MAX_DELIVERIES, Name, PopError, Push, Queue};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    address::{Keyed, OfName},
    body::{Body, FromPath, User, duration},
    names::place,
    permits::{DELAYS, RenewBody, TTL, WAITS},
    queues::queue,
};
use crate::{json_text::JsonText, problem::Problem, shared::HandlerState};

/// How many items may be pushed by one request.
const MOST_ITEMS: usize = 100;

/// Items to push.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pushes {
    /// The items to push, 1 to 100, in this order.
    #[schema(min_items = 1, max_items = 100)]
    items: Vec<NewItem>,
}

/// An item to push.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct NewItem {
    /// The payload that the worker gets, at most 1 MiB. Default: empty.
    payload: String,
    /// How `payload` is written in this request. Default: text.
    encoding: Encoding,
    /// The priority. A higher one is delivered sooner. Default: 0.
    #[schema(minimum = -100, maximum = 100)]
    priority: i32,
    /// How long to wait before any worker is given the item, in milliseconds; at most a day.
    /// Default: 0.
    #[schema(maximum = 86_400_000)]
    delay_ms: u64,
    /// The group of the item. An operator can limit how many items of one group are in work at
    /// once. Default: no group.
    group: Option<String>,
    /// A key. The item is not pushed if an item with the same key was pushed within the last
    /// `dedup_ms` milliseconds. Default: no key.
    dedup: Option<String>,
    /// How long the key is remembered, in milliseconds: a second to a week. Default: an hour.
    #[schema(minimum = 1000, maximum = 604_800_000)]
    dedup_ms: Option<u64>,
    /// How often the item is given to a worker before it is dead, 1 to 1 000 000. Default: 5.
    #[schema(minimum = 1, maximum = 1_000_000)]
    deliveries: Option<u32>,
    /// Labels of the item that everybody can read. Default: none.
    labels: BTreeMap<String, String>,
}

/// How the bytes of a payload are written in JSON.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Text,
    Base64,
}

/// The bounds of `dedup_ms`.
const WINDOWS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(604_800);
const DEDUP_MS: u64 = 3_600_000;
const PRIORITIES: RangeInclusive<i32> = -100..=100;
const DELIVERIES: RangeInclusive<u32> = 1..=MAX_DELIVERIES;

/// The results of a push.
#[derive(Serialize, ToSchema)]
pub(super) struct PushedItems {
    /// The results, in the order of the request.
    items: Vec<PushedItem>,
}

/// The result of one item.
#[derive(Serialize, ToSchema)]
struct PushedItem {
    /// The number of the item in its queue. `null`: the item was not pushed.
    id: Option<u64>,
    /// Whether an item with the same key was there already. Then nothing was pushed, and `id` is
    /// the number of that item.
    duplicate: bool,
    /// Why the item was not pushed. `null`: it was.
    problem: Option<Problem>,
}

/// Pushes items. Each item succeeds or fails on its own.
///
/// With an `Idempotency-Key`, a repeated request gets the same answer for ten minutes after the
/// first one, and pushes nothing again, even if the client left before the first answer. A restart
/// of the program forgets the keys.
#[utoipa::path(
    post, path = "/queues/{name}/items", operation_id = "push", tag = "queues",
    params(OfName, Keyed),
    request_body = Pushes,
    responses((status = 200, body = PushedItems), Problem)
)]
pub(super) async fn push(
    State(inner): State<Arc<HandlerState>>,
    User(visitor): User,
    FromPath(OfName { name }): FromPath<OfName>,
    headers: HeaderMap,
    Body(pushes): Body<Pushes>,
) -> Result<Response, Problem> {
    let (what, checking) = (format!("push {name}"), async { checked(&inner, &name, &pushes) });
    let pushed =
        inner.answers.once(visitor.token, &headers, what, &pushes, checking, push_all).await?;
    Ok(pushed.into_response())
}

/// Checks all items, so that a mistake in one item is reported before any item is pushed.
fn checked(
    inner: &HandlerState,
    name: &str,
    pushes: &Pushes,
) -> Result<(Queue, Vec<Push>), Problem> {
    if !(1..=MOST_ITEMS).contains(&pushes.items.len()) {
        return Err(Problem::bad(format!("1 to {MOST_ITEMS} items can be pushed at once")));
    }
    let pushes = pushes.items.iter().map(NewItem::push).collect::<Result<Vec<_>, _>>()?;
    Ok((queue(inner, name)?, pushes))
}

async fn push_all((queue, pushes): (Queue, Vec<Push>)) -> Result<JsonText, Problem> {
    let all = queue.push_all(pushes).await;
    // If some items were pushed, the answer has to say which. If none was pushed, the request has
    // failed.
    let is_done = all.iter().any(Result::is_ok);
    let mut items = Vec::new();
    for one in all {
        items.push(match one {
            Ok(pushed) => {
                PushedItem { id: Some(pushed.id.0), duplicate: pushed.is_duplicate, problem: None }
            }
            Err(error) if is_done => {
                PushedItem { id: None, duplicate: false, problem: Some(error.into()) }
            }
            Err(error) => return Err(error.into()),
        });
    }
    JsonText::of(&PushedItems { items })
}

impl NewItem {
    /// Checks the item, so that a mistake is reported before any item is pushed.
    fn checked(&self) -> Result<(), Problem> {
        if !PRIORITIES.contains(&self.priority) {
            return Err(Problem::bad(format!("a priority is -100 to 100, not {}", self.priority)));
        }
        if self.deliveries.is_some_and(|number| !DELIVERIES.contains(&number)) {
            return Err(Problem::bad(format!("an item has 1 to {MAX_DELIVERIES} deliveries")));
        }
        for key in self.group.iter().chain(&self.dedup) {
            Name::new(key).map_err(Problem::bad)?;
        }
        Ok(())
    }

    fn push(&self) -> Result<Push, Problem> {
        self.checked()?;
        let bad = |error| Problem::bad(format!("the payload is no base64: {error}"));
        let payload = match self.encoding {
            Encoding::Text => self.payload.clone().into_bytes(),
            Encoding::Base64 => BASE64_STANDARD.decode(&self.payload).map_err(bad)?,
        };
        let delay = duration("delay_ms", self.delay_ms, DELAYS)?;
        let window = duration("dedup_ms", self.dedup_ms.unwrap_or(DEDUP_MS), WINDOWS)?;
        let push = Push::new(payload).priority(self.priority).delay(delay);
        let push = self.group.iter().fold(push, |push, group| push.group(group));
        let push = self.dedup.iter().fold(push, |push, key| push.dedup(key, window));
        let push = self.deliveries.into_iter().fold(push, |push, n| push.deliveries(n));
        Ok(self.labels.iter().fold(push, |push, (key, value)| push.label(key, value)))
    }
}

/// The number of items to take, and how long to hold them.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PopBody {
    /// How many items to take at most, 1 to 64. Default: 1.
    #[schema(minimum = 1, maximum = 64)]
    items: Option<u32>,
    /// How long to wait for the first item, in milliseconds; at most an hour. The answer comes with
    /// the first item, or after this time. Default: 0.
    #[schema(maximum = 3_600_000)]
    wait_ms: u64,
    /// How long this program holds the items for you unless you renew them, in milliseconds: 100 to
    /// a day. Default: 30 000.
    #[schema(minimum = 100, maximum = 86_400_000)]
    ttl_ms: Option<u64>,
}

/// The items that were taken.
#[derive(Serialize, ToSchema)]
pub(super) struct PoppedItems {
    /// The items, at least one.
    items: Vec<ItemInHand>,
}

/// An item that was taken.
#[derive(Serialize, ToSchema)]
struct ItemInHand {
    /// The number of the item in its queue.
    id: u64,
    /// The id of this delivery, in 32 hexadecimal digits. Acknowledging, failing, giving back and
    /// renewing need it.
    delivery: String,
    /// The fence: a number that grows with each delivery of the queue. Give it to the resource,
    /// which refuses a lower one than it has seen.
    fence: u64,
    /// The number of this delivery of the item, from 1.
    attempt: u32,
    /// The largest number of deliveries of the item, after which it is dead.
    deliveries: u32,
    /// The group of the item. `null`: it is in none.
    group: Option<String>,
    /// The labels of the item, as an object of texts.
    labels: BTreeMap<String, String>,
    /// The payload of the item, written as `encoding` says.
    payload: String,
    /// How `payload` is written: as text if it is UTF-8, and otherwise in Base64.
    encoding: Encoding,
}

/// Takes items, and waits for the first one if none is ready. This program holds each item until it
/// is acknowledged, failed or given back. If `ttl_ms` pass without a renewal, the delivery has
/// failed.
#[utoipa::path(
    post, path = "/queues/{name}/pop", operation_id = "pop", tag = "queues",
    params(OfName, Keyed),
    request_body = PopBody,
    responses((status = 200, body = PoppedItems), Problem)
)]
pub(super) async fn pop(
    State(inner): State<Arc<HandlerState>>,
    User(visitor): User,
    FromPath(OfName { name }): FromPath<OfName>,
    headers: HeaderMap,
    Body(pop): Body<PopBody>,
) -> Result<Response, Problem> {
    let _place = place(&inner)?;
    let (what, popping) = (format!("pop {name}"), pop.items(&inner, &name));
    let ttl = RenewBody { ttl_ms: pop.ttl_ms }.ttl()?.unwrap_or(TTL);
    let holder = Arc::clone(&inner);
    let held = |items| async move { hold(&holder, items, ttl) };
    let popped = inner.answers.once(visitor.token, &headers, what, &pop, popping, held).await?;
    Ok(popped.into_response())
}

impl PopBody {
    async fn items(&self, inner: &HandlerState, name: &str) -> Result<Vec<Item>, Problem> {
        let wait = duration("wait_ms", self.wait_ms, WAITS)?;
        let queue = queue(inner, name)?;
        match (self.items.unwrap_or(1), wait) {
            (1, Duration::ZERO) => {
                let item = queue.try_pop().await?.ok_or(PopError::TimedOut)?;
                Ok(vec![item])
            }
            (items, wait) => Ok(queue.pop_many(items).timeout(wait).await?),
        }
    }
}

/// Holds these items for a client, and lists them.
fn hold(inner: &HandlerState, items: Vec<Item>, ttl: Duration) -> Result<JsonText, Problem> {
    let items: Vec<_> = items.into_iter().map(|item| ItemInHand::new(inner, item, ttl)).collect();
    JsonText::of(&PoppedItems { items })
}

impl ItemInHand {
    fn new(inner: &HandlerState, item: Item, ttl: Duration) -> Self {
        let text = std::str::from_utf8(item.payload()).map(str::to_owned);
        let encoding = if text.is_ok() { Encoding::Text } else { Encoding::Base64 };
        Self {
            id: item.id().0,
            fence: item.fence().0,
            attempt: item.attempt(),
            deliveries: item.deliveries(),
            group: item.group().map(str::to_owned),
            labels: item.labels().into_iter().collect(),
            payload: text.unwrap_or_else(|_| BASE64_STANDARD.encode(item.payload())),
            encoding,
            delivery: inner.deliveries.keep(item, ttl),
        }
    }
}
