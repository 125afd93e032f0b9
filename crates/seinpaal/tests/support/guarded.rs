//! A permit, and a look at the server that it guards writes to.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each suite uses a part")]

use redis::{Cmd, FromRedisValue, cmd};
use seinpaal::{Permit, Seinpaal, Semaphore};
use seinpaal_rig::RedisServer;

use crate::requests::plain;

pub async fn say<T: FromRedisValue>(server: &RedisServer, command: &mut Cmd) -> T {
    command.query_async(&mut plain(&server.socket_url("")).await).await.unwrap()
}

pub async fn get(server: &RedisServer, key: &str) -> Option<String> {
    say(server, cmd("GET").arg(key)).await
}

/// The only permit of the semaphore `n`.
pub async fn held(url: &str) -> (Semaphore, Permit) {
    let semaphore = Seinpaal::connect(url).await.unwrap().semaphore("n").limit(1);
    let permit = semaphore.acquire().await.unwrap();
    (semaphore, permit)
}
