//! Items that this program holds for somebody who said how long.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{Extension, extract::State, http::StatusCode};
use seinpaal::{FinishError, Item};
use serde::Deserialize;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};
use utoipa::ToSchema;

use super::{
    Problem,
    body::{At, Body, FromHere, duration},
    may_use,
    permits::{DELAYS, Lease},
};
use crate::{access::Visitor, dashboard::Inner};

/// Orders that have not been read: each has a request that waits for it.
const ORDERS: usize = 8;

/// What is held, by the word that its worker was given.
#[derive(Clone, Default)]
pub(crate) struct Deliveries(Arc<Mutex<HashMap<String, mpsc::Sender<Order>>>>);

enum Order {
    Renew(Duration, oneshot::Sender<()>),
    Finish(How, oneshot::Sender<Result<(), FinishError>>),
}

enum How {
    Acknowledge,
    Fail(String, Duration),
    GiveBack(Duration),
}

impl Deliveries {
    /// Holds an item until an order to finish it, or until `ttl` has passed without a renewal.
    pub(super) fn keep(&self, item: Item, ttl: Duration) -> String {
        let word = word();
        let (orders, read) = mpsc::channel(ORDERS);
        self.all().insert(word.clone(), orders);
        tokio::spawn(hold(self.clone(), word.clone(), item, Instant::now() + ttl, read));
        word
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, mpsc::Sender<Order>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn order<T>(
        &self,
        word: &str,
        order: impl FnOnce(oneshot::Sender<T>) -> Order,
    ) -> Result<T, Problem> {
        if word.len() != 32 || !word.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(Problem::bad("a delivery has 32 hexadecimal digits"));
        }
        let orders = self.all().get(word).cloned().ok_or_else(gone)?;
        let (reply, replied) = oneshot::channel();
        orders.send(order(reply)).await.map_err(|_| gone())?;
        replied.await.map_err(|_| gone())
    }

    async fn finish(&self, word: &str, how: How) -> Result<StatusCode, Problem> {
        self.order(word, |reply| Order::Finish(how, reply)).await??;
        Ok(StatusCode::NO_CONTENT)
    }
}

/// Nobody guesses it: whoever knows it may finish the item.
fn word() -> String {
    let mut random = [0; 16];
    // Without random numbers the program has not started.
    getrandom::fill(&mut random).expect("the system has random numbers");
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn gone() -> Problem {
    let words =
        "nobody holds this delivery: it was finished, it was lost, or it was not renewed in time";
    Problem::new(StatusCode::GONE, "lost", words)
}

async fn hold(
    all: Deliveries,
    word: String,
    item: Item,
    until: Instant,
    mut orders: mpsc::Receiver<Order>,
) {
    let finish = next_finish(&item, until, &mut orders).await;
    all.all().remove(&word);
    match finish {
        None => drop(item.fail("its worker did not renew it in time", Duration::ZERO).await),
        Some((how, reply)) => {
            let finished = match how {
                How::Acknowledge => item.acknowledge().await,
                How::Fail(reason, delay) => item.fail(&reason, delay).await.map(drop),
                How::GiveBack(delay) => item.give_back(delay).await,
            };
            // Who asked may have gone.
            let _ = reply.send(finished);
        }
    }
}

type Finish = (How, oneshot::Sender<Result<(), FinishError>>);

/// The order to finish; none if the time is over or the item is lost.
async fn next_finish(
    item: &Item,
    mut until: Instant,
    orders: &mut mpsc::Receiver<Order>,
) -> Option<Finish> {
    loop {
        let order = tokio::select! {
            _ = item.lost() => return None,
            order = timeout_at(until, orders.recv()) => order.ok().flatten()?,
        };
        match order {
            Order::Finish(how, reply) => return Some((how, reply)),
            Order::Renew(ttl, reply) => {
                // It never ends sooner than it would have.
                until = until.max(Instant::now() + ttl);
                let _ = reply.send(());
            }
        }
    }
}

/// Acknowledges an item: it is done, and gone.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/acknowledge", operation_id = "acknowledge", tag = "queues",
    params(("delivery" = String, Path, description = "As `pop` said.", pattern = "^[0-9a-f]{32}$")),
    responses((status = 204, description = "It is done."), Problem)
)]
pub(super) async fn acknowledge(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(word): At<String>,
    _here: FromHere,
) -> Result<StatusCode, Problem> {
    may_use(&visitor)?;
    inner.deliveries.finish(&word, How::Acknowledge).await
}

/// Why a delivery failed, and when to try again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Failure {
    /// For its history.
    reason: String,
    /// Before it is given to anybody again. Default: 0.
    #[schema(maximum = 86_400_000)]
    delay_ms: u64,
}

/// Says that a delivery failed. The item is delivered again, or is dead after its last delivery.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/fail", operation_id = "fail", tag = "queues",
    params(("delivery" = String, Path, description = "As `pop` said.", pattern = "^[0-9a-f]{32}$")), request_body = Failure,
    responses((status = 204, description = "It is noted."), Problem)
)]
pub(super) async fn fail(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(word): At<String>,
    _here: FromHere,
    Body(failure): Body<Failure>,
) -> Result<StatusCode, Problem> {
    may_use(&visitor)?;
    let delay = duration("delay_ms", failure.delay_ms, DELAYS)?;
    inner.deliveries.finish(&word, How::Fail(failure.reason, delay)).await
}

/// When to deliver it again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Back {
    /// Before it is given to anybody again. Default: 0.
    #[schema(maximum = 86_400_000)]
    delay_ms: u64,
}

/// Gives an item back. The delivery does not count.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/give-back", operation_id = "giveBack", tag = "queues",
    params(("delivery" = String, Path, description = "As `pop` said.", pattern = "^[0-9a-f]{32}$")), request_body = Back,
    responses((status = 204, description = "It is back."), Problem)
)]
pub(super) async fn give_back(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(word): At<String>,
    _here: FromHere,
    Body(back): Body<Back>,
) -> Result<StatusCode, Problem> {
    may_use(&visitor)?;
    let delay = duration("delay_ms", back.delay_ms, DELAYS)?;
    inner.deliveries.finish(&word, How::GiveBack(delay)).await
}

/// Keeps an item in hand for longer.
#[utoipa::path(
    post, path = "/deliveries/{delivery}/renew", operation_id = "renewDelivery", tag = "queues",
    params(("delivery" = String, Path, description = "As `pop` said.", pattern = "^[0-9a-f]{32}$")), request_body = Lease,
    responses((status = 204, description = "It is held for so long from now."), Problem)
)]
pub(super) async fn renew(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    At(word): At<String>,
    _here: FromHere,
    Body(lease): Body<Lease>,
) -> Result<StatusCode, Problem> {
    may_use(&visitor)?;
    let ttl = lease.ttl()?;
    inner.deliveries.order(&word, |reply| Order::Renew(ttl, reply)).await?;
    Ok(StatusCode::NO_CONTENT)
}
