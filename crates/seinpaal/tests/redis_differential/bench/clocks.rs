//! The clock that the scripts use.

use std::sync::Arc;

use seinpaal::store::{Store, redis::RedisStore, url::StoreUrl};
use seinpaal_proto::{Batch, Inbox, Name, Request};
use tokio::sync::mpsc;

use super::Bench;

impl Bench {
    /// Returns whether scripts without a given time use another clock than the server's own, in
    /// microseconds. No history would show that, because every history gives the time.
    pub(in super::super) async fn clocks_differ(&mut self) -> Option<String> {
        let name = Name::new("a name").unwrap();
        let batch = Batch {
            name,
            inbox: None,
            fence_seen: 0,
            requests: vec![Request::Inspect { rows: 0 }],
        };
        let before = self.server_time().await;
        let now = self.by_the_servers_clock().await.call(&batch).await.unwrap().now;
        let after = self.server_time().await;
        let is_between = before <= now && now <= after;
        (!is_between)
            .then(|| format!("the scripts' time is {now}, the server's {before} to {after}"))
    }

    async fn by_the_servers_clock(&self) -> Arc<RedisStore> {
        let url = StoreUrl::parse(&self.server.socket_url("")).unwrap();
        let (news, _) = mpsc::unbounded_channel();
        RedisStore::open(url, Inbox(2), news).await.unwrap()
    }

    async fn server_time(&mut self) -> u64 {
        let (seconds, micros): (u64, u64) =
            redis::cmd("TIME").query_async(&mut self.ears).await.unwrap();
        seconds * 1_000_000 + micros
    }
}
