//! Our semaphore.

use std::io;

use seinpaal::{Permit, Seinpaal, Semaphore};

use super::{Lock, Orders};

pub(super) struct Ours(Semaphore);

pub(super) async fn locks(url: &str, orders: &Orders) -> io::Result<Vec<Ours>> {
    let connect = async || Seinpaal::connect(url).await.map_err(io::Error::other);
    let shared = connect().await?;
    let mut locks = Vec::new();
    for name in orders.names() {
        let seinpaal = if orders.are_apart() { connect().await? } else { shared.clone() };
        locks.push(Ours(seinpaal.semaphore(&name).limit(orders.limit())));
    }
    Ok(locks)
}

impl Lock for Ours {
    type Held = Permit;

    async fn acquire(&self) -> io::Result<Permit> {
        self.0.acquire().await.map_err(io::Error::other)
    }

    async fn release(permit: Permit) -> io::Result<()> {
        permit.release().await.map_err(io::Error::other)
    }
}
