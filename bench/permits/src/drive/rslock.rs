//! rslock, a mutex, as its own documents show it.

use std::io;

use rslock::{LockGuard, LockManager};

use super::{FOREVER, Lock, Orders};

pub(super) struct Mutex {
    manager: LockManager,
    name: String,
}

pub(super) fn locks(url: &str, orders: &Orders) -> Vec<Mutex> {
    let connect = || LockManager::new(vec![url.to_owned()]);
    let shared = connect();
    let manager = || if orders.are_apart() { connect() } else { shared.clone() };
    orders.names().map(|name| Mutex { manager: manager(), name }).collect()
}

impl Lock for Mutex {
    type Held = LockGuard;

    async fn acquire(&self) -> io::Result<LockGuard> {
        self.manager.acquire(self.name.as_str(), FOREVER).await.map_err(io::Error::other)
    }

    async fn release(guard: LockGuard) -> io::Result<()> {
        guard.release().await;
        Ok(())
    }
}
