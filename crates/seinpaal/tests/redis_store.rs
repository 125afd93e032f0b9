//! The Redis store on a real server, with cases that the ledger does not have: commands, keys, full
//! memory, forgotten scripts.

#[path = "redis_store/cost.rs"]
mod cost;
#[path = "redis_store/damage.rs"]
mod damage;
#[path = "redis_store/examined.rs"]
mod examined;
#[path = "support/requests.rs"]
mod requests;

use std::{fs, path::Path, time::Duration};

use redis::{Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use requests::{Client, TTL, acquire, acquisition, is_granted, plain, release};
use seinpaal::store::{Certainty, News, Store, StoreErrorKind};
use seinpaal_proto::{
    About, Batch, Configure, Limit, MAX_ABOUT_BYTES, Renew, Reply, Request, What, Whom,
    time::{MAX_TTL, SECOND},
};
use seinpaal_rig::RedisServer;
use tokio::{task::JoinHandle, time::timeout};

async fn say<T: FromRedisValue>(connection: &mut MultiplexedConnection, command: &mut Cmd) -> T {
    command.query_async(connection).await.unwrap()
}

/// A server compiles a script before it runs it.
#[tokio::test]
async fn every_file_of_the_scripts_parses_by_itself() {
    let server = RedisServer::start();
    let mut plain = plain(&server.socket_url("")).await;
    let mut files = Vec::new();
    for folder in ["redis/src/lua", "redis/src/lua/names", "redis/src/lua/queues", "quorum/src/lua"]
    {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(folder);
        files.extend(fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    }
    files.retain(|path| path.extension().is_some_and(|it| it == "lua"));
    assert!(files.len() > 30, "{files:?}");
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        let mut load = cmd("SCRIPT");
        let loaded = load.arg("LOAD").arg(source).query_async::<String>(&mut plain).await;
        assert!(loaded.is_ok(), "{}: {loaded:?}", path.display());
    }
}

/// Makes the server forget its scripts again and again.
async fn start_flusher(server: &RedisServer) -> JoinHandle<()> {
    let mut behind = plain(&server.socket_url("")).await;
    tokio::spawn(async move {
        loop {
            say::<()>(&mut behind, cmd("SCRIPT").arg("FLUSH")).await;
        }
    })
}

/// If fences are an hour ahead of the clock, as after a clock that was an hour ahead, they are
/// remembered for that hour.
#[tokio::test]
async fn the_keys_of_a_name_outlive_its_last_fence() {
    const HOUR: u64 = 3600 * SECOND;
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    let seen = client.store.first_reading().shows + HOUR;
    let short = Request::Acquire(acquisition(1, TTL));
    let granted = Batch { fence_seen: seen, ..client.batch("n", vec![short]) };
    client.store.call(&granted).await.unwrap();
    // The first key is written by the short script, and the second by the full one, which has a
    // ticket to remember for longer.
    let longer = Request::Cancel { ticket: requests::ticket(2), remember: 2 * HOUR, attach: None };
    for (last, hours) in [(release(1), 1), (longer, 2)] {
        client.ask("n", last).await.unwrap();
        let left: u64 = say(&mut behind, cmd("PTTL").arg("seinpaal:{n}")).await;
        let left = left * 1000;
        assert!(left <= hours * HOUR + 2 * SECOND, "{left}");
        assert!(left >= hours * HOUR - 60 * SECOND, "{left}");
    }
}

#[tokio::test]
async fn scripts_that_are_flushed_in_mid_flight_are_loaded_again_unseen() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let flusher = start_flusher(&server).await;
    for ticket in 1..300 {
        let name = ["a", "b"][(ticket % 2) as usize];
        assert!(is_granted(&client.acquire(name, ticket).await));
        let batch = client.batch(name, vec![release(ticket), release(ticket)]);
        let replies = client.store.call(&batch).await.unwrap().replies;
        assert!(matches!(replies[0], Reply::Released { left: 0, .. }));
        assert!(matches!(replies[1], Reply::Ended { .. }));
    }
    assert!(!flusher.is_finished());
    flusher.abort();
}

/// Each release hands over to a waiter of the same client. So its script publishes to the
/// connection that waits for its answer.
#[tokio::test]
async fn a_wakeup_of_ones_own_is_no_answer_where_scripts_are_flushed_all_the_time() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let flusher = start_flusher(&server).await;
    for first in (1..600).step_by(2) {
        assert!(is_granted(&client.acquire("n", first).await));
        assert!(matches!(client.acquire("n", first + 1).await, Reply::Queued { .. }));
        for ticket in [first, first + 1] {
            let reply = client.release("n", ticket).await;
            assert_eq!(reply, Reply::Released { ticket: requests::ticket(ticket), left: 0 });
        }
    }
    assert!(!flusher.is_finished());
    flusher.abort();
}

#[tokio::test]
async fn without_memory_nobody_is_let_in_but_everybody_can_leave() {
    let server = RedisServer::with(&["--maxmemory-policy", "noeviction"]);
    let client = Client::connect(&server.socket_url(""), 1).await;
    for ticket in 1..=3 {
        client.acquire("n", ticket).await;
    }
    client.acquire("evicted", 4).await;
    let mut behind = plain(&server.socket_url("")).await;
    say::<()>(&mut behind, cmd("CONFIG").arg("SET").arg("maxmemory").arg(1)).await;
    let before: u64 = say(&mut behind, &mut cmd("DBSIZE")).await;
    for name in ["n", "new"] {
        let error = client.ask(name, acquire(9)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.certainty()),
            (StoreErrorKind::Full, Certainty::NotExecuted)
        );
    }
    assert_eq!(say::<u64>(&mut behind, &mut cmd("DBSIZE")).await, before);
    let whom = Whom::All { members: 1, digest: requests::ticket(1).digest() };
    let renew =
        Renew { lease: requests::ticket(1).lease(), ttl: 60 * SECOND, margin: SECOND, whom };
    let renewed = client.ask("n", Request::Renew(renew)).await.unwrap();
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    assert!(matches!(client.release("n", 1).await, Reply::Released { .. }));
    // The release has handed over to the waiter, which leaves in turn.
    assert!(matches!(client.release("n", 2).await, Reply::Released { left: 0, .. }));
    let cancel = Request::Cancel { ticket: requests::ticket(3), remember: SECOND, attach: None };
    assert!(matches!(client.ask("n", cancel).await.unwrap(), Reply::Cancelled { .. }));
    let evict = Request::Evict { ticket: requests::ticket(4) };
    assert!(matches!(client.ask("evicted", evict).await.unwrap(), Reply::Evicted { .. }));
}

#[tokio::test]
async fn a_master_that_takes_no_writes_any_more_has_executed_nothing_and_is_asked_again_later() {
    let server = RedisServer::start();
    let mut behind = plain(&server.socket_url("")).await;
    let requests = [acquire(1), acquire(9), release(1), renew(1), cancel(2)];
    for (inbox, request) in (1..).zip(requests) {
        let name = inbox.to_string();
        let client = Client::connect(&server.socket_url(""), inbox).await;
        if !matches!(&request, Request::Acquire(asked) if asked.ticket == requests::ticket(1)) {
            assert!(is_granted(&client.acquire(&name, 1).await));
            client.acquire(&name, 2).await;
        }
        // The replica's master does not exist, so the replica keeps its data.
        say::<()>(&mut behind, cmd("REPLICAOF").arg("127.0.0.1").arg(1)).await;
        let error = client.ask(&name, request.clone()).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{request:?}: {error}");
        assert_eq!(error.certainty(), Certainty::NotExecuted, "{request:?}: {error}");
        assert!(error.is_passing());
        say::<()>(&mut behind, cmd("REPLICAOF").arg("NO").arg("ONE")).await;
    }
}

fn renew(ticket: u128) -> Request {
    let whom = Whom::Tickets(vec![requests::ticket(ticket)]);
    Request::Renew(Renew {
        lease: requests::ticket(77).lease(),
        ttl: 60 * SECOND,
        margin: SECOND,
        whom,
    })
}

fn cancel(ticket: u128) -> Request {
    Request::Cancel { ticket: requests::ticket(ticket), remember: SECOND, attach: None }
}

#[tokio::test]
async fn a_request_out_of_range_is_refused_before_anything_is_written() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let about = About::new("x".repeat(MAX_ABOUT_BYTES), "", 0).encode();
    let requests = [
        Request::Acquire(acquisition(1, 0)),
        Request::Acquire(acquisition(1, 99_999)),
        Request::Acquire(acquisition(1, MAX_TTL + 1)),
        Request::Acquire(seinpaal_proto::Acquire { about, ..acquisition(1, SECOND) }),
        Request::Acquire(seinpaal_proto::Acquire {
            waiter_ttl: u64::MAX,
            ..acquisition(1, SECOND)
        }),
        Request::Cancel { ticket: requests::ticket(1), remember: MAX_TTL + 1, attach: None },
    ];
    for request in requests {
        let error = client.ask("n", request.clone()).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Internal, "{request:?}: {error}");
        assert_eq!(error.certainty(), Certainty::NotExecuted, "{request:?}: {error}");
    }
    let good_then_bad = client.batch("n", vec![acquire(1), Request::Acquire(acquisition(2, 0))]);
    client.store.call(&good_then_bad).await.unwrap_err();
    let mut behind = plain(&server.socket_url("")).await;
    assert_eq!(say::<u64>(&mut behind, &mut cmd("DBSIZE")).await, 0);
}

#[tokio::test]
async fn nothing_is_left_behind_when_all_have_left_and_are_forgotten() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("?protocol=resp3")).await;
    client.ask("n", Request::Acquire(acquisition(1, TTL))).await.unwrap();
    client.ask("n", Request::Acquire(acquisition(2, TTL))).await.unwrap();
    for key in ["seinpaal:{n}", "seinpaal:{n}:o"] {
        let left: i64 = say(&mut behind, cmd("PTTL").arg(key)).await;
        assert!(left > 12 * 3_600_000, "{key} outlives any step of the clock: {left}");
    }
    client.release("n", 1).await;
    client.release("n", 2).await;
    let left: i64 = say(&mut behind, cmd("PTTL").arg("seinpaal:{n}")).await;
    assert!((0..=1_100).contains(&left), "{left}");
    wait_until_empty(&mut behind).await;
}

#[tokio::test]
async fn a_pin_or_a_pause_stays_until_it_is_lifted() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url(""), 1).await;
    let mut behind = plain(&server.socket_url("")).await;
    client.ask("n", Request::Acquire(acquisition(1, TTL))).await.unwrap();
    let limit = Configure::Limit(Limit::new(3).unwrap());
    client.ask("n", Request::Configure(limit)).await.unwrap();
    client.release("n", 1).await;
    assert_eq!(say::<i64>(&mut behind, cmd("PTTL").arg("seinpaal:{n}")).await, -1);
    client.ask("n", Request::Configure(Configure::Unpin)).await.unwrap();
    wait_until_empty(&mut behind).await;
}

/// The server does the expiry. A test only looks until it is done, and not for ever.
async fn wait_until_empty(behind: &mut MultiplexedConnection) {
    let empty = async {
        while say::<u64>(behind, &mut cmd("DBSIZE")).await > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), empty).await.expect("keys are left behind");
}

#[tokio::test]
async fn the_winner_is_woken_and_nobody_else() {
    let server = RedisServer::start();
    let holder = Client::connect(&server.socket_url(""), 1).await;
    let mut first = Client::connect(&server.socket_url(""), 2).await;
    let mut second = Client::connect(&server.socket_url(""), 3).await;
    holder.acquire("n", 1).await;
    first.acquire("n", 2).await;
    second.acquire("n", 3).await;
    holder.release("n", 1).await;
    let News::Wakeup(wakeup) = first.news.recv().await.unwrap() else { panic!() };
    assert_eq!((wakeup.ticket, wakeup.name.as_str()), (requests::ticket(2), "n"));
    assert!(matches!(wakeup.what, What::Granted { limit: 1, .. }));
    // The client's own grant comes after every message that was sent before it.
    first.release("n", 2).await;
    let News::Wakeup(wakeup) = second.news.recv().await.unwrap() else { panic!() };
    assert_eq!(wakeup.ticket, requests::ticket(3));
    assert!(second.news.try_recv().is_err());
}

#[tokio::test]
async fn a_waiter_whose_client_is_gone_is_passed_over() {
    let server = RedisServer::start();
    let holder = Client::connect(&server.socket_url(""), 1).await;
    let gone = Client::connect(&server.socket_url(""), 2).await;
    let mut behind = Client::connect(&server.socket_url(""), 3).await;
    holder.acquire("n", 1).await;
    gone.acquire("n", 2).await;
    behind.acquire("n", 3).await;
    drop(gone);
    let mut watcher = plain(&server.socket_url("")).await;
    let channel = format!("seinpaal:inbox:{}", seinpaal_proto::Inbox(2));
    let hung_up = async {
        loop {
            let (_, count): (String, u64) =
                say(&mut watcher, cmd("PUBSUB").arg("NUMSUB").arg(&channel)).await;
            if count == 0 {
                break;
            }
        }
    };
    timeout(Duration::from_secs(20), hung_up).await.expect("a dropped store hangs up");
    holder.release("n", 1).await;
    let News::Wakeup(wakeup) = behind.news.recv().await.unwrap() else { panic!() };
    assert_eq!(wakeup.ticket, requests::ticket(3));
}

#[tokio::test]
async fn any_name_can_be_used_and_is_listed_in_order() {
    let server = RedisServer::start();
    let client = Client::connect(&server.socket_url("?prefix=p*%25:"), 1).await;
    let mut names = ["a{b}c", "}{", "two words", "zürich 東京", "100%", "a*", "a[x]", "aax"];
    for (ticket, name) in names.iter().enumerate() {
        assert!(is_granted(&client.acquire(name, ticket as u128 + 1).await), "{name}");
    }
    client.acquire("left", 100).await;
    client.release("left", 100).await;
    names.sort_unstable();
    let listed = |prefix| {
        let store = client.store.clone();
        async move {
            let listed = store.list(prefix).await.unwrap();
            listed.into_iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed("").await, names);
    assert_eq!(listed("a*").await, ["a*"]);
    assert_eq!(listed("a[").await, ["a[x]"]);
    assert_eq!(listed("a").await, ["a*", "a[x]", "aax", "a{b}c"]);
}
