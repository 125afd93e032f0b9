//! The semaphore of distributed-lock-redis. Its lock cannot wait on one server.

use std::io;

use distributed_lock_core::traits::{DistributedSemaphore, LockHandle, SemaphoreProvider};
use distributed_lock_redis::{RedisDistributedSemaphore, RedisLockProvider, RedisSemaphoreHandle};

use super::{Lock, Orders};

pub(super) struct Semaphore(RedisDistributedSemaphore);

pub(super) async fn locks(url: &str, orders: &Orders) -> io::Result<Vec<Semaphore>> {
    let connect = async || RedisLockProvider::new(url).await.map_err(io::Error::other);
    let shared = connect().await?;
    let mut locks = Vec::new();
    for name in orders.names() {
        let semaphore = if orders.are_apart() {
            connect().await?.create_semaphore(&name, orders.limit())
        } else {
            shared.create_semaphore(&name, orders.limit())
        };
        locks.push(Semaphore(semaphore));
    }
    Ok(locks)
}

impl Lock for Semaphore {
    type Held = RedisSemaphoreHandle;

    async fn acquire(&self) -> io::Result<Self::Held> {
        self.0.acquire(None).await.map_err(io::Error::other)
    }

    async fn release(held: Self::Held) -> io::Result<()> {
        held.release().await.map_err(io::Error::other)
    }
}
