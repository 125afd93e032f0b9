//! A server that lost its memory admits a second holder beside the first. With the restart guard it
//! does not. A holder counts for as long as its client believes that it holds.

#[path = "restart_guard/mishaps.rs"]
mod mishaps;
#[path = "support/requests.rs"]
mod requests;

use std::time::{Duration, Instant};

use mishaps::{Flush, LaggingReplica, Mishap, OldSnapshot, Restart, ThereAndBack};
use redis::{Cmd, FromRedisValue, cmd};
use requests::{Client, acquisition, is_granted, plain};
use seinpaal::{AcquireError, BadSetting, ConnectError, Seinpaal, Semaphore};
use seinpaal_proto::{Request, time::margin};
use seinpaal_rig::RedisServer;

const NAME: &str = "n";
/// Long enough that no holder's belief ends while a server starts.
const LONG: Duration = Duration::from_secs(30);
/// Short enough to wait for its end.
const SHORT: Duration = Duration::from_secs(1);

async fn say<T: FromRedisValue>(url: &str, command: &mut Cmd) -> T {
    command.query_async(&mut plain(url).await).await.unwrap()
}

async fn mutex(url: &str, ttl: Duration) -> Semaphore {
    let seinpaal = Seinpaal::builder(url).ttl(ttl).connect().await.expect("the store opens");
    seinpaal.semaphore(NAME).limit(1)
}

/// A holder that the server is about to forget, and that does not learn of that.
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
async fn a_user_who_may_not_ask_for_info_is_told_so() {
    let server = RedisServer::start();
    let rule = ["SETUSER", "worker", "on", "nopass", "~*", "&*", "+@all", "-info"];
    say::<()>(&server.socket_url(""), cmd("ACL").arg(&rule)).await;
    let url = server.socket_url("?user=worker&pass=x&restart-guard=on");
    let semaphore = mutex(&url, SHORT).await;
    let refused = semaphore.acquire().await.expect_err("a right is missing");
    assert!(refused.to_string().contains("INFO"), "{refused}");
}

#[tokio::test]
async fn a_server_without_memory_stays_guarded_and_still_takes_releases() {
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
