//! How a server comes to forget.

use redis::cmd;
use seinpaal_rig::RedisServer;

use super::{requests::plain, say};

/// How a server comes to forget. Answers where the next client goes.
pub(super) trait Mishap {
    /// A server on which a first holder can be, and where that is.
    fn begin() -> (Self, String)
    where
        Self: Sized;

    /// Everybody up to here is remembered. From now on somebody may not be.
    async fn prepare(&mut self) {}

    /// The server forgets.
    async fn happen(&mut self) -> String;
}

pub(super) struct Restart(RedisServer);

impl Mishap for Restart {
    fn begin() -> (Self, String) {
        let server = RedisServer::start();
        let url = server.socket_url("");
        (Self(server), url)
    }

    async fn happen(&mut self) -> String {
        self.0.kill();
        self.0.start_again();
        self.0.socket_url("")
    }
}

pub(super) struct Flush(RedisServer);

impl Mishap for Flush {
    fn begin() -> (Self, String) {
        let server = RedisServer::start();
        let url = server.socket_url("");
        (Self(server), url)
    }

    async fn happen(&mut self) -> String {
        say::<()>(&self.0.socket_url(""), &mut cmd("FLUSHALL")).await;
        self.0.socket_url("")
    }
}

pub(super) struct OldSnapshot(RedisServer);

impl Mishap for OldSnapshot {
    fn begin() -> (Self, String) {
        let server = RedisServer::start();
        let url = server.socket_url("");
        (Self(server), url)
    }

    async fn prepare(&mut self) {
        say::<()>(&self.0.socket_url(""), &mut cmd("SAVE")).await;
    }

    async fn happen(&mut self) -> String {
        self.0.kill();
        self.0.start_again();
        self.0.socket_url("")
    }
}

/// A master and its replica.
struct Pair {
    ports: [u16; 2],
    servers: [RedisServer; 2],
}

impl Pair {
    /// With the URL of the master.
    fn start() -> (Self, String) {
        let at_once = ["--repl-diskless-sync-delay", "0"];
        let master = RedisServer::with(&at_once);
        let port = master.port();
        let port_text = port.to_string();
        let of = [&at_once[..], &["--replicaof", "127.0.0.1", &port_text]].concat();
        let replica = RedisServer::with(&of);
        let other = replica.port();
        let pair = Self { ports: [port, other], servers: [master, replica] };
        let url = pair.url(0);
        (pair, url)
    }

    fn url(&self, which: usize) -> String {
        format!("redis://127.0.0.1:{}", self.ports[which])
    }

    /// Waits until the replica has all that the master has.
    async fn settle(&self, master: usize) {
        let mut info = cmd("INFO");
        info.arg("replication");
        // Before its link is up, the replica shows its earlier data, whatever the master thinks of
        // it.
        while !say::<String>(&self.url(1 - master), &mut info).await.contains("link_status:up") {
            tokio::task::yield_now().await;
        }
        let mut connection = plain(&self.url(master)).await;
        cmd("SET").arg("settled").arg(1).exec_async(&mut connection).await.unwrap();
        // The wait is shorter than the connection waits for an answer. It counts what this
        // connection wrote.
        let mut wait = cmd("WAIT");
        wait.arg(1).arg(100);
        while wait.query_async::<u64>(&mut connection).await.unwrap() < 1 {}
    }

    /// From now on the replica hears nothing of the master.
    async fn part(&self) {
        self.settle(0).await;
        self.promote(1).await;
    }

    async fn promote(&self, which: usize) {
        say::<()>(&self.url(which), cmd("REPLICAOF").arg("NO").arg("ONE")).await;
    }

    async fn demote(&self, which: usize) {
        let master = self.ports[1 - which];
        say::<()>(&self.url(which), cmd("REPLICAOF").arg("127.0.0.1").arg(master)).await;
    }
}

/// The master dies, and the replica that takes over has not heard of its last grant.
pub(super) struct LaggingReplica(Pair);

impl Mishap for LaggingReplica {
    fn begin() -> (Self, String) {
        let (pair, url) = Pair::start();
        (Self(pair), url)
    }

    async fn prepare(&mut self) {
        self.0.part().await;
    }

    async fn happen(&mut self) -> String {
        self.0.servers[0].kill();
        self.0.url(1)
    }
}

/// As above, and then the old master takes over again: the same process, with the other's memory.
pub(super) struct ThereAndBack(Pair);

impl Mishap for ThereAndBack {
    fn begin() -> (Self, String) {
        let (pair, url) = Pair::start();
        (Self(pair), url)
    }

    async fn prepare(&mut self) {
        self.0.part().await;
    }

    async fn happen(&mut self) -> String {
        self.0.demote(0).await;
        self.0.settle(1).await;
        self.0.promote(0).await;
        self.0.url(0)
    }
}
