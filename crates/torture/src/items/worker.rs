//! A worker: a process that takes items through the public API, and writes each step down before it
//! takes the next.

use std::{
    convert::Infallible,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;
use seinpaal::{FinishError, Item};
use seinpaal_rig::{between, fork};

use super::{NAME, give_backs, history::ItemEvent};

use crate::{
    history::Pen,
    worker::{connect, stop_with_stdin},
};

/// The longest work on an item.
const WORK: Duration = Duration::from_millis(4);

/// The orders of a worker.
#[derive(Clone, Debug)]
pub struct ItemOrders {
    /// The store.
    pub url: String,
    /// The name of this life.
    pub who: String,
    /// The file that the history goes to.
    pub history: PathBuf,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The ttl of leases.
    pub ttl: Duration,
    /// How many items the worker takes at a time.
    pub concurrency: u32,
}

/// Works until standard input ends.
///
/// # Errors
/// If the history cannot be opened, or the store refuses for good.
pub fn work(orders: ItemOrders) -> io::Result<()> {
    let pen = Pen::open(&orders.history, &orders.who)?;
    give_backs::write_down(pen.clone());
    let mut stop = stop_with_stdin();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = connect(&orders.url, &orders.who, orders.ttl, &stop).await;
        let Some(seinpaal) = store else { return Ok(()) };
        pen.write(ItemEvent::Started);
        let items = Arc::new(AtomicU64::new(0));
        let handler = |item| {
            handle(item, pen.clone(), fork(orders.seed, items.fetch_add(1, Ordering::Relaxed)))
        };
        let worker = seinpaal.queue(NAME).worker(orders.concurrency, handler).run_on_when_lost();
        let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
        let worked = worker.run_until(stopped).await;
        let _ = seinpaal.close().await;
        worked.map(drop).map_err(io::Error::other)
    })
}

async fn handle(item: Item, pen: Pen, mut rng: Rng) -> Result<(), Infallible> {
    let (id, fence) = (item.id().0, item.fence().0);
    let n = number_in(item.payload());
    pen.write(ItemEvent::Delivered { n, id, fence, attempt: item.attempt() });
    tokio::time::sleep(between(&mut rng, Duration::ZERO, WORK)).await;
    pen.write(ItemEvent::Acknowledging { id, fence });
    pen.write(match item.acknowledge().await {
        Ok(()) => ItemEvent::Acknowledged { id, fence },
        Err(error) => ItemEvent::NotAcknowledged { id, fence, is_lost: error == FinishError::Lost },
    });
    Ok(())
}

/// Makes a payload: a number, filled up to 64 bytes.
#[must_use]
pub fn payload(n: u64) -> String {
    format!("{n:.<64}")
}

fn number_in(payload: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(payload);
    // A payload that is no number gets the number of an item that was never pushed, so the checker
    // reports it.
    text.trim_end_matches('.').parse().unwrap_or(u64::MAX)
}
