//! Items that this program holds for clients, each for as long as its client has asked for.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use seinpaal::{FinishError, Item};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};

use crate::problem::Problem;

/// How many orders may wait to be read. A request waits for each of them.
const ORDERS: usize = 8;

/// The deliveries that this program holds, by the secret word that the worker got.
#[derive(Clone, Default)]
pub(crate) struct Deliveries(Arc<Mutex<HashMap<String, mpsc::Sender<FinishOrder>>>>);

enum FinishOrder {
    Renew(Option<Duration>, oneshot::Sender<()>),
    Finish(FinishHow, oneshot::Sender<Result<(), FinishError>>),
}

/// The way to end a delivery.
pub(crate) enum FinishHow {
    Acknowledge,
    Fail(String, Duration),
    GiveBack(Duration),
}

impl Deliveries {
    /// Holds an item until it is finished, or until `ttl` has passed without a renewal. Returns the
    /// secret word.
    pub(crate) fn keep(&self, item: Item, ttl: Duration) -> String {
        let word = word();
        let (orders, read) = mpsc::channel(ORDERS);
        self.all().insert(word.clone(), orders);
        tokio::spawn(hold(self.clone(), word.clone(), item, ttl, read));
        word
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, mpsc::Sender<FinishOrder>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn order<T>(
        &self,
        word: &str,
        order: impl FnOnce(oneshot::Sender<T>) -> FinishOrder,
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

    /// Holds an item for `ttl` from now, or for the time that was asked for at first.
    pub(crate) async fn renew(
        &self,
        word: &str,
        ttl: Option<Duration>,
    ) -> Result<StatusCode, Problem> {
        self.order(word, |reply| FinishOrder::Renew(ttl, reply)).await?;
        Ok(StatusCode::NO_CONTENT)
    }

    pub(crate) async fn finish(&self, word: &str, how: FinishHow) -> Result<StatusCode, Problem> {
        self.order(word, |reply| FinishOrder::Finish(how, reply)).await??;
        Ok(StatusCode::NO_CONTENT)
    }
}

/// Makes a random word. A client that knows the word may finish the item.
fn word() -> String {
    let mut random = [0; 16];
    // A program on a system without random numbers does not start.
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
    ttl: Duration,
    mut orders: mpsc::Receiver<FinishOrder>,
) {
    let finish = next_finish(&item, ttl, &mut orders).await;
    // The delivery is removed before the store hears of its end, so that a second order for it is
    // refused.
    all.all().remove(&word);
    match finish {
        // If the item is lost, the failure changes nothing.
        None => drop(item.fail("its worker did not renew it in time", Duration::ZERO).await),
        Some((how, reply)) => {
            let finished = match how {
                FinishHow::Acknowledge => item.acknowledge().await,
                FinishHow::Fail(reason, delay) => item.fail(&reason, delay).await.map(drop),
                FinishHow::GiveBack(delay) => item.give_back(delay).await,
            };
            // The client that sent the order may have gone.
            let _ = reply.send(finished);
        }
    }
}

type Finish = (FinishHow, oneshot::Sender<Result<(), FinishError>>);

/// Waits for the order to finish. `None`: the time is over, or the item is lost.
async fn next_finish(
    item: &Item,
    first: Duration,
    orders: &mut mpsc::Receiver<FinishOrder>,
) -> Option<Finish> {
    let mut until = Instant::now() + first;
    loop {
        let order = tokio::select! {
            // Another worker may have the item now, so this one must not finish it.
            _ = item.lost() => return None,
            order = timeout_at(until, orders.recv()) => order.ok().flatten()?,
        };
        match order {
            FinishOrder::Finish(how, reply) => return Some((how, reply)),
            FinishOrder::Renew(ttl, reply) => {
                // A renewal never shortens the time.
                until = until.max(Instant::now() + ttl.unwrap_or(first));
                let _ = reply.send(());
            }
        }
    }
}
