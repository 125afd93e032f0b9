//! Our queue.

use std::{convert::Infallible, io, sync::Arc};

use seinpaal::{Push, Queue, Seinpaal};

use super::{Plan, Tally, broken, payload, say_pushed, until_told};
use crate::measure::now;

const NAME: &str = "bench";

pub(super) async fn push(url: &str, plan: Plan) -> io::Result<()> {
    let seinpaal = Seinpaal::connect(url).await.map_err(broken)?;
    let queue = seinpaal.queue(NAME);
    let started = now();
    for batch in plan.batches() {
        push_batch(&queue, batch).await?;
        if !plan.gap.is_zero() {
            tokio::time::sleep(plan.gap).await;
        }
    }
    say_pushed(started);
    Ok(())
}

async fn push_batch(queue: &Queue, batch: u64) -> io::Result<()> {
    if batch == 1 {
        return queue.push(payload()).await.map(drop).map_err(broken);
    }
    let pushed = queue.push_all((0..batch).map(|_| Push::new(payload()))).await;
    pushed.into_iter().try_for_each(|pushed| pushed.map(drop).map_err(broken))
}

pub(super) async fn work(url: &str, concurrency: u64, tally: Arc<Tally>) -> io::Result<()> {
    let seinpaal = Seinpaal::connect(url).await.map_err(broken)?;
    let queue = seinpaal.queue(NAME);
    until_told(&tally).await;
    let worker = queue.worker(u32::try_from(concurrency).map_err(broken)?, |item| {
        tally.note(&String::from_utf8_lossy(item.payload()));
        std::future::ready(Ok::<(), Infallible>(()))
    });
    worker.run().await.map(drop).map_err(broken)
}
