//! A server that lost its memory lets a second holder in beside the first; with the restart guard it does not.
//! Whether somebody holds is judged by what it believes itself.

#[path = "support/asks.rs"]
mod asks;

use std::time::{Duration, Instant};

use asks::{Client, acquisition, is_granted, plain};
use redis::{Cmd, FromRedisValue, cmd};
use seinpaal::{AcquireError, BadSetting, ConnectError, Seinpaal, Semaphore};
use seinpaal_proto::{Request, time::margin};
use seinpaal_rig::RedisServer;

const NAME: &str = "n";
/// Long enough that nobody's belief ends while a server starts.
const LONG: Duration = Duration::from_secs(30);
/// Short enough to wait for its end.
const SHORT: Duration = Duration::from_secs(1);

/// How a server comes to forget. Answers where the next client goes.
trait Mishap {
    /// A server on which a first holder can be, and where that is.
    fn begin() -> (Self, String)
    where
        Self: Sized;

    /// Everybody up to here is remembered. From now on somebody may not be.
    async fn prepare(&mut self) {}

    /// The server forgets.
    async fn happen(&mut self) -> String;
}

async fn say<T: FromRedisValue>(url: &str, command: &mut Cmd) -> T {
    command.query_async(&mut plain(url).await).await.unwrap()
}

struct Restart(RedisServer);

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

struct Flush(RedisServer);

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

struct OldSnapshot(RedisServer);

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
    fn start() -> Self {
        let at_once = ["--repl-diskless-sync-delay", "0"];
        let master = RedisServer::with(&at_once);
        let port = master.port();
        let port_text = port.to_string();
        let of = [&at_once[..], &["--replicaof", "127.0.0.1", &port_text]].concat();
        let replica = RedisServer::with(&of);
        let other = replica.port();
        Self { ports: [port, other], servers: [master, replica] }
    }

    fn url(&self, which: usize) -> String {
        format!("redis://127.0.0.1:{}", self.ports[which])
    }

    /// Waits until the replica has all that the master has.
    async fn settle(&self, master: usize) {
        let mut info = cmd("INFO");
        info.arg("replication");
        // Before its link is up it shows what it had before, whatever the master thinks of it.
        while !say::<String>(&self.url(1 - master), &mut info).await.contains("link_status:up") {
            tokio::task::yield_now().await;
        }
        let mut connection = plain(&self.url(master)).await;
        cmd("SET").arg("settled").arg(1).exec_async(&mut connection).await.unwrap();
        // Shorter than the connection waits for an answer; what counts is what it wrote itself.
        let mut wait = cmd("WAIT");
        wait.arg(1).arg(100);
        while wait.query_async::<u64>(&mut connection).await.unwrap() < 1 {}
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
struct LaggingReplica(Pair);

impl Mishap for LaggingReplica {
    fn begin() -> (Self, String) {
        let pair = Pair::start();
        let url = pair.url(0);
        (Self(pair), url)
    }

    async fn prepare(&mut self) {
        self.0.settle(0).await;
        self.0.promote(1).await;
    }

    async fn happen(&mut self) -> String {
        self.0.servers[0].kill();
        self.0.url(1)
    }
}

/// The same, and then the old master takes over again: the same process, with the other's memory.
struct ThereAndBack(Pair);

impl Mishap for ThereAndBack {
    fn begin() -> (Self, String) {
        let pair = Pair::start();
        let url = pair.url(0);
        (Self(pair), url)
    }

    async fn prepare(&mut self) {
        self.0.settle(0).await;
        self.0.promote(1).await;
    }

    async fn happen(&mut self) -> String {
        self.0.demote(0).await;
        self.0.settle(1).await;
        self.0.promote(0).await;
        self.0.url(0)
    }
}

async fn mutex(url: &str, ttl: Duration) -> Semaphore {
    let seinpaal = Seinpaal::builder(url).ttl(ttl).connect().await.expect("the store opens");
    seinpaal.semaphore(NAME).limit(1)
}

/// A holder that the server is about to forget, and that does not hear of it.
struct Holder {
    _client: Client,
    believes_until: Instant,
}

impl Holder {
    async fn before(mishap: &mut impl Mishap, url: &str, ttl: Duration) -> Self {
        let before = mutex(url, ttl).await.acquire().await.expect("a permit"); // a new server is guarded
        before.release().await.expect("it goes back");
        mishap.prepare().await;
        let client = Client::connect(url, 1).await;
        let (asked, length) = (Instant::now(), ttl.as_micros() as u64);
        let reply = client.ask(NAME, Request::Acquire(acquisition(1, length))).await;
        assert!(is_granted(&reply.expect("an answer")));
        let believed_for = ttl - Duration::from_micros(margin(length));
        Self { _client: client, believes_until: asked + believed_for }
    }

    fn believes(&self) -> bool {
        Instant::now() < self.believes_until
    }
}

async fn without_the_guard_two_hold<M: Mishap>() {
    let (mut mishap, url) = M::begin();
    let first = Holder::before(&mut mishap, &url, LONG).await;
    let url = mishap.happen().await;
    let second = mutex(&url, LONG).await.try_acquire().await.expect("an answer");
    let second = second.expect("the server has forgotten");
    assert!(second.is_held() && first.believes(), "the failure is gone");
}

async fn with_the_guard_one_holds<M: Mishap>() {
    let options = "?restart-guard=1250ms";
    let (mut mishap, url) = M::begin();
    let first = Holder::before(&mut mishap, &format!("{url}{options}"), SHORT).await;
    let url = format!("{}{options}", mishap.happen().await);
    let semaphore = mutex(&url, SHORT).await;
    assert!(semaphore.try_acquire().await.expect("an answer").is_none());
    assert!(semaphore.snapshot().await.expect("an answer").guarded_for.is_some());
    let second = semaphore.acquire().await.expect("a permit");
    assert!(!first.believes(), "two hold");
    assert!(second.is_held());
    assert_eq!(semaphore.snapshot().await.expect("an answer").guarded_for, None);
}

macro_rules! mishaps {
    ($($name:ident: $mishap:ident),+) => { $(
        mod $name {
            #[tokio::test]
            async fn without_the_guard_two_hold() {
                super::without_the_guard_two_hold::<super::$mishap>().await;
            }

            #[tokio::test]
            async fn with_the_guard_one_holds() {
                super::with_the_guard_one_holds::<super::$mishap>().await;
            }
        }
    )+ };
}

mishaps! {
    a_server_restarted_without_its_data: Restart,
    a_server_that_was_flushed: Flush,
    a_server_restarted_from_an_old_snapshot: OldSnapshot,
    a_replica_that_lags_and_takes_over: LaggingReplica,
    a_master_that_was_demoted_and_promoted_again: ThereAndBack
}

#[tokio::test]
async fn a_ttl_that_outlasts_the_guard_is_refused_with_the_guard_it_needs() {
    let server = RedisServer::start();
    let url = server.socket_url("?restart-guard=on");
    let seinpaal = Seinpaal::connect(&url).await.expect("the default ttl is covered");
    let refused = seinpaal.semaphore(NAME).acquire().ttl(Duration::from_secs(60)).await;
    let Err(AcquireError::Setting(refused)) = refused else { panic!("{refused:?}") };
    assert!(refused.to_string().contains("restart-guard=75s"), "{refused}");
    let refused = Seinpaal::builder(&url).ttl(Duration::from_secs(31)).connect().await;
    let Err(ConnectError::Setting(BadSetting::OutlastsGuard { longest, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(longest, LONG);
    let longer = Seinpaal::builder(&server.socket_url("")).restart_guard(Duration::from_secs(75));
    let seinpaal = longer.connect().await.expect("the store opens");
    let asked = seinpaal.semaphore(NAME).try_acquire().ttl(Duration::from_secs(60)).await;
    assert!(asked.expect("an answer").is_none(), "guarded, as the builder says");
}

#[tokio::test]
async fn a_store_that_has_no_guard_refuses_one() {
    let refused = Seinpaal::builder("memory:").restart_guard(LONG).connect().await;
    assert!(matches!(refused, Err(ConnectError::Setting(BadSetting::NoGuard))), "{refused:?}");
}

#[tokio::test]
async fn a_user_who_may_not_ask_for_info_is_told_so_at_connect() {
    let server = RedisServer::start();
    let rule = ["SETUSER", "worker", "on", "nopass", "~*", "&*", "+@all", "-info"];
    say::<()>(&server.socket_url(""), cmd("ACL").arg(&rule)).await;
    let url = server.socket_url("?user=worker&pass=x&restart-guard=on");
    let refused = Seinpaal::connect(&url).await.expect_err("a right is missing");
    assert!(refused.to_string().contains("INFO"), "{refused}");
}

#[tokio::test]
async fn a_server_without_memory_to_note_it_stays_guarded_and_lets_go_of_what_is_held() {
    let server = RedisServer::start();
    let url = server.socket_url("?restart-guard=1250ms");
    let semaphore = mutex(&url, SHORT).await;
    let permit = semaphore.acquire().await.expect("a permit");
    say::<()>(&server.socket_url(""), cmd("CONFIG").arg("SET").arg("maxmemory").arg("1")).await;
    say::<()>(&server.socket_url(""), cmd("DEL").arg("seinpaal:guard")).await;
    permit.release().await.expect("it goes back");
    let guarded = semaphore.snapshot().await.expect("an answer").guarded_for;
    assert_eq!(guarded, Some(Duration::from_millis(1250)), "no time counts that cannot be noted");
}
