//! apalis with its Redis storage, as its own documents show it.

use std::{io, sync::Arc};

use apalis::prelude::*;
use apalis_redis::{Config, RedisStorage};

use super::{Plan, Tally, broken, payload, say_pushed, until_told};
use crate::measure::now;

async fn storage(url: &str) -> io::Result<RedisStorage<String>> {
    let connection = apalis_redis::connect(url).await.map_err(broken)?;
    Ok(RedisStorage::new(connection).with_config(Config::default().queue("bench")))
}

pub(super) async fn push(url: &str, plan: Plan) -> io::Result<()> {
    let mut storage = storage(url).await?;
    let started = now();
    for batch in plan.batches() {
        let pushed = match batch {
            1 => storage.push(payload()).await,
            _ => storage.push_bulk((0..batch).map(|_| payload()).collect()).await,
        };
        pushed.map_err(broken)?;
        if !plan.gap.is_zero() {
            tokio::time::sleep(plan.gap).await;
        }
    }
    say_pushed(started);
    Ok(())
}

async fn handle(payload: String, tally: Data<Arc<Tally>>) -> Result<(), BoxDynError> {
    tally.note(&payload);
    Ok(())
}

pub(super) async fn work(url: &str, concurrency: u64, tally: Arc<Tally>) -> io::Result<()> {
    let storage = storage(url).await?;
    until_told(&tally).await;
    let worker = WorkerBuilder::new(format!("worker-{}", std::process::id()))
        .backend(storage)
        .data(tally)
        .concurrency(usize::try_from(concurrency).map_err(broken)?)
        .build(handle);
    worker.run().await.map_err(broken)
}
