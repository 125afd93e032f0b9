//! The Redis store on a real cluster: the nodes of names, hash slots that move while they are in
//! use, masters that die, and wakeups through all these events.

#[path = "redis_cluster/deaf.rs"]
mod deaf;
#[path = "redis_cluster/moving.rs"]
mod moving;
#[path = "support/requests.rs"]
mod requests;

use std::time::Duration;

use requests::{Client, SECRET, acquire, is_granted, refusal, release};
use seinpaal::store::{Certainty, News, Store, StoreErrorKind};
use seinpaal_proto::{Configure, Limit, Reply, Request};
use seinpaal_rig::{RedisCluster, until};
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(30);

async fn next(client: &mut Client) -> News {
    timeout(BOUND, client.news.recv()).await.expect("news in time").expect("news")
}

async fn told_of_grant(client: &mut Client, ticket: u128) {
    loop {
        if let News::Wakeup(wakeup) = next(client).await {
            assert_eq!(wakeup.ticket, requests::ticket(ticket));
            return;
        }
    }
}

/// Repeats a request until it is answered, as the session does.
async fn insist(client: &Client, name: &str, request: Request) -> Reply {
    let insisting = async {
        loop {
            match client.ask(name, request.clone()).await {
                Ok(reply) => return reply,
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
        }
    };
    timeout(BOUND, insisting).await.expect("an answer")
}

/// The two keys of a name, by docs/internals/stores/redis.md.
fn keys(name: &str) -> [String; 2] {
    [format!("seinpaal:{{{name}}}"), format!("seinpaal:{{{name}}}:o")]
}

/// A name where a ticket waits behind a holder, and its place: the hash slot, its master and
/// another one.
struct Scene {
    holder: Client,
    waiter: Client,
    hash_slot: usize,
    from: usize,
    to: usize,
}

impl Scene {
    async fn at(cluster: &RedisCluster, name: &str, ticket: u128) -> Self {
        let holder = Client::connect(&cluster.url(), 2 * ticket).await;
        let waiter = Client::connect(&cluster.url(), 2 * ticket + 1).await;
        assert!(is_granted(&holder.acquire(name, ticket).await));
        let queued = waiter.acquire(name, ticket + 1).await;
        assert!(matches!(queued, Reply::Queued { waiting: 1, .. }), "{queued:?}");
        let (hash_slot, from) =
            (cluster.hash_slot_of(&keys(name)[0]), cluster.owner_of(&keys(name)[0]));
        let to = (0..3).find(|i| *i != from).unwrap();
        Self { holder, waiter, hash_slot, from, to }
    }
}

#[tokio::test]
async fn any_name_has_its_keys_together_and_is_listed_from_all_masters() {
    let cluster = RedisCluster::shared();
    let client = Client::connect(&format!("{}?prefix=names:", cluster.url()), 1).await;
    let mut names = ["a{b}c", "}{", "two words", "zürich 東京", "100%", "{}", "a*", "x", "y", "z"];
    for (ticket, name) in names.iter().enumerate() {
        assert!(is_granted(&client.acquire(name, ticket as u128 + 1).await), "{name}");
    }
    let listed = client.store.list("").await.unwrap();
    let listed: Vec<_> = listed.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(listed, names);
    let masters = cluster.nodes().iter().filter(|node| node.is_master());
    let used = masters.filter(|node| !node.say(&["SCAN", "0", "MATCH", "names:*"]).is_empty());
    assert!(used.count() > 1, "the names are spread");
}

#[tokio::test]
async fn any_node_of_the_url_leads_to_all_the_others() {
    let cluster = RedisCluster::shared();
    let nobody = "127.0.0.1:1";
    let last = cluster.nodes().last().unwrap().port();
    let url = format!("redis+cluster://{nobody},127.0.0.1:{last}?prefix=lead:");
    let client = Client::connect(&url, 1).await;
    for ticket in 1..20 {
        assert!(is_granted(&client.acquire(&format!("name {ticket}"), ticket).await));
    }
}

/// With `hostname` and no name to announce, every node is `?` to the others, in the map and in
/// redirections. With `unknown-endpoint`, no node says where it is.
#[tokio::test]
async fn nodes_that_tell_no_host_are_found_and_so_are_hash_slots_that_move_between_them() {
    for endpoint in ["hostname", "unknown-endpoint"] {
        let args = ["--cluster-preferred-endpoint-type", endpoint];
        let cluster = RedisCluster::start_with(3, 0, &args);
        let client = Client::connect(&cluster.url(), 1).await;
        for ticket in 1..20 {
            assert!(is_granted(&client.acquire(&format!("name {ticket}"), ticket).await));
        }
        let [records, _] = keys("name 1");
        let (hash_slot, from) = (cluster.hash_slot_of(&records), cluster.owner_of(&records));
        cluster.move_hash_slot(hash_slot, from, (from + 1) % 3);
        let released = insist(&client, "name 1", release(1)).await;
        assert!(matches!(released, Reply::Released { .. }), "{endpoint}: {released:?}");
    }
}

#[tokio::test]
async fn when_a_master_dies_its_replica_goes_on_with_holders_and_waiters() {
    let mut cluster = RedisCluster::start();
    let Scene { holder, mut waiter, from, .. } = Scene::at(&cluster, "survives", 1).await;
    cluster.await_replicas_of(from);
    cluster.kill(from);
    let released = insist(&holder, "survives", release(1)).await;
    assert!(matches!(released, Reply::Released { .. }), "{released:?}");
    // The waiter is granted by a wakeup, or because it looks again.
    assert!(is_granted(&insist(&waiter, "survives", acquire(2)).await));
    while let Ok(Some(news)) = timeout(BOUND, waiter.news.recv()).await {
        if news == News::LookAgain {
            break;
        }
    }
    let third = Client::connect(&cluster.url(), 9).await;
    assert!(matches!(insist(&third, "survives", acquire(3)).await, Reply::Queued { .. }));
    cluster.start_again(from);
    cluster.await_health();
    assert!(matches!(waiter.release("survives", 2).await, Reply::Released { .. }));
    let mut third = third;
    told_of_grant(&mut third, 3).await;
}

#[tokio::test]
async fn a_subscription_ends_a_while_after_the_last_ticket() {
    let cluster = RedisCluster::shared();
    let client = Client::connect(&format!("{}?prefix=idle:", cluster.url()), 1).await;
    client.acquire("kept", 1).await;
    client.acquire("idle", 2).await;
    client.release("idle", 2).await;
    let listened = || -> Vec<String> {
        let channels =
            cluster.nodes().iter().map(|node| node.say(&["PUBSUB", "SHARDCHANNELS", "idle:*"]));
        channels.filter(|channels| !channels.is_empty()).collect()
    };
    assert_eq!(listened().join("\n").lines().count(), 2);
    let given_up = async {
        while listened().join("\n").lines().count() > 1 {
            tokio::task::yield_now().await;
        }
    };
    timeout(BOUND, given_up).await.expect("it is given up");
    assert!(listened()[0].contains("{kept}"));
}

#[tokio::test]
async fn a_single_server_and_a_cluster_are_told_apart() {
    let cluster = RedisCluster::shared();
    let (host, port) = ("127.0.0.1", cluster.nodes()[0].port());
    let Err(error) = Client::try_connect(&format!("redis://{host}:{port}"), 1).await else {
        panic!("accepted")
    };
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert!(error.to_string().contains("redis+cluster://"), "{error}");
}

/// The two lines of docs/internals/stores/cluster.md.
fn documented_permissions() -> String {
    let text = include_str!("../../../docs/internals/stores/cluster.md");
    let lines = text.lines().skip_while(|line| !line.starts_with("resetchannels"));
    lines.take_while(|line| !line.starts_with("```")).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_permissions_in_the_documents_are_enough_in_a_cluster() {
    let user = format!("worker on >{SECRET} {}", documented_permissions());
    let user: Vec<&str> = ["--user"].into_iter().chain(user.split(' ')).collect();
    let cluster = RedisCluster::start_with(3, 0, &user);
    let url = cluster.url().replace("//", &format!("//worker:{SECRET}@"));
    let holder = Client::connect(&url, 1).await;
    let mut waiter = Client::connect(&url, 2).await;
    assert!(is_granted(&holder.acquire("w", 1).await));
    waiter.acquire("w", 2).await;
    let (hash_slot, from) = (cluster.hash_slot_of("{w}"), cluster.owner_of("{w}"));
    cluster.begin_move(hash_slot, from, (from + 1) % 3);
    let [records, order] = keys("w");
    cluster.move_keys(from, (from + 1) % 3, &[&records, &order]);
    assert!(matches!(holder.ask("w", acquire(3)).await.unwrap(), Reply::Queued { .. }));
    cluster.end_move(hash_slot, from, (from + 1) % 3);
    assert_eq!(next(&mut waiter).await, News::LookAgain);
    holder.release("w", 1).await;
    told_of_grant(&mut waiter, 2).await;
    assert_eq!(holder.store.list("").await.unwrap().len(), 1);
    let refused = refusal(&url.replace(SECRET, "wrong")).await;
    assert_eq!(refused.kind(), StoreErrorKind::Forbidden, "{refused}");
}

#[tokio::test]
async fn where_no_node_answers_the_error_says_so() {
    let error = refusal(&format!("redis+cluster://ann:{SECRET}@127.0.0.1:1,127.0.0.1:2")).await;
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(error.to_string().contains("nothing listens"), "{error}");
}

#[tokio::test]
async fn nothing_is_sent_twice_when_a_master_stops_in_mid_call() {
    let cluster = RedisCluster::start_with(3, 0, &[]);
    let client = Client::connect(&cluster.url(), 1).await;
    assert!(is_granted(&client.acquire("paused", 1).await));
    let owner = cluster.owner_of(&keys("paused")[0]);
    cluster.nodes()[owner].say(&["CONFIG", "RESETSTAT"]);
    cluster.pause(owner);
    let error = client.ask("paused", acquire(2)).await.unwrap_err();
    cluster.resume(owner);
    assert_eq!(error.certainty(), Certainty::Unknown, "{error}");
    cluster.await_health();
    let executed = || {
        let stats = cluster.nodes()[owner].say(&["INFO", "commandstats"]);
        stats.contains("cmdstat_evalsha:calls=1,")
    };
    until("what was in the socket is executed, once", executed);
    assert!(matches!(
        insist(&client, "paused", acquire(2)).await,
        Reply::Queued { waiting: 1, .. }
    ));
}

/// The place of the count of permits held, in the header of a name.
const HELD: usize = 4 + 4;

#[tokio::test]
async fn ledgers_of_all_masters_are_examined_and_one_that_contradicts_itself_is_found() {
    let cluster = RedisCluster::shared();
    let client = Client::connect(&format!("{}?prefix=examined:", cluster.url()), 1).await;
    for at in 0..6 {
        let (name, limit) = (format!("n{at}"), Limit::new(2).unwrap());
        insist(&client, &name, Request::Configure(Configure::Limit(limit))).await;
        insist(&client, &name, acquire(1 + at)).await;
    }
    let seen = client.store.examine(100).await.unwrap();
    assert_eq!((seen.names, seen.is_clean()), (6, true), "{seen:?}");
    let plant = format!(
        "local head = redis.call('hget', KEYS[1], 'h') \
         return redis.call('hset', KEYS[1], 'h', head:sub(1, {HELD}) .. '\\7' .. head:sub({}))",
        HELD + 2
    );
    for key in ["examined:{n2}", "examined:{n3}"] {
        cluster.nodes()[cluster.owner_of(key)].say(&["EVAL", &plant, "1", key]);
    }
    let seen = client.store.examine(100).await.unwrap();
    let found: Vec<_> = seen.contradictions.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for (found, name) in found.iter().zip(["n2", "n3"]) {
        assert!(
            found.starts_with(&format!("the name {name}: the head counts 7 permits")),
            "{found}"
        );
    }
}

#[tokio::test]
async fn a_call_that_is_denied_names_the_right_that_is_missing() {
    let cluster = RedisCluster::shared();
    for node in cluster.nodes() {
        let user = "ACL SETUSER guest on >s3cret ~other:* &* +@all";
        node.say(&user.split(' ').collect::<Vec<_>>());
    }
    let url = cluster.url().replacen("://", "://guest:s3cret@", 1);
    let client = Client::connect(&url, 1).await;
    let error = client.ask("n", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(error.to_string().contains("~seinpaal:*"), "{error}");
}

#[tokio::test]
async fn a_setting_that_endangers_a_promise_is_found_at_whichever_master_it_is() {
    let cluster = RedisCluster::start();
    let client = Client::connect(&cluster.url(), 1).await;
    let masters = cluster.masters();
    for at in masters.iter().copied() {
        let node = &cluster.nodes()[at];
        node.say(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
        let diagnosis = client.store.diagnose().await.unwrap();
        let advice: Vec<_> = diagnosis.advice.iter().map(ToString::to_string).collect();
        let named = format!(":{}/0: maxmemory-policy is allkeys-lru", node.port());
        let found: Vec<_> = advice.iter().filter(|line| line.contains("allkeys-lru")).collect();
        assert!(found.len() == 1 && found[0].contains(&named), "{named}: {advice:?}");
        node.say(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    }
    let facts = client.store.diagnose().await.unwrap().facts;
    let counted = facts.iter().find(|fact| fact.what == "masters");
    assert_eq!(counted.map(|fact| fact.value.as_str()), Some(&*masters.len().to_string()));
}
