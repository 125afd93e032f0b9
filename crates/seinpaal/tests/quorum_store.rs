//! The quorum store on real servers, with cases that other stores do not have: nodes that stop,
//! pause or forget; votes in a planted order; and refused requests.

#[path = "quorum_store/blips.rs"]
mod blips;
#[path = "support/requests.rs"]
mod requests;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use redis::cmd;
use requests::{acquisition, plain, release, ticket};
use seinpaal::store::{
    News, Store, StoreError, StoreErrorKind, quorum::QuorumStore, url::StoreUrl,
};
use seinpaal_proto::{
    Acquire, Batch, Busy, Enqueue, Inbox, Limit, LimitRule, Name, OnMismatch, Renew, Reply,
    Request, TicketReply, Whom, time::SECOND,
};
use seinpaal_rig::RedisServer;
use tokio::sync::mpsc;

struct Ensemble {
    servers: Vec<RedisServer>,
}

impl Ensemble {
    fn start() -> Self {
        Self { servers: (0..3).map(|_| RedisServer::start()).collect() }
    }

    fn url(&self, options: &str) -> String {
        let nodes: Vec<_> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port())).collect();
        format!("redis+quorum://{}?{options}", nodes.join(","))
    }

    async fn client(&self, inbox: u128) -> Client {
        Client::connect(&self.url("restart-guard=off"), inbox).await.unwrap()
    }

    async fn say<T: redis::FromRedisValue>(&self, node: usize, command: &redis::Cmd) -> T {
        let mut plain = plain(&self.servers[node].url("")).await;
        command.query_async(&mut plain).await.unwrap()
    }
}

struct Client {
    store: Arc<QuorumStore>,
    inbox: Inbox,
    news: mpsc::UnboundedReceiver<News>,
}

impl Client {
    async fn connect(url: &str, inbox: u128) -> Result<Self, StoreError> {
        let (sender, news) = mpsc::unbounded_channel();
        let inbox = Inbox(inbox);
        let Ok(StoreUrl::Quorum(url)) = StoreUrl::parse(url) else { panic!("not a quorum: {url}") };
        Ok(Self { store: QuorumStore::open(url, inbox, sender).await?, inbox, news })
    }

    async fn ask(&self, request: Request) -> Result<Reply, StoreError> {
        let (name, inbox) = (Name::new("n").unwrap(), Some(self.inbox));
        let batch = Batch { name, inbox, fence_seen: 0, requests: vec![request] };
        Ok(self.store.call(&batch).await?.replies.remove(0))
    }

    async fn attempt(&self, ticket: u128, limit: u32) -> Reply {
        self.ask(Request::Acquire(attempt(ticket, limit))).await.unwrap()
    }

    /// Asks until it is granted. Writes to a node that was slow may still arrive meanwhile.
    async fn until_granted(&self, ticket: u128) {
        while !matches!(self.attempt(ticket, 1).await, Reply::Granted(_)) {
            tokio::task::yield_now().await;
        }
    }
}

fn attempt(ticket: u128, limit: u32) -> Acquire {
    let limit =
        Some(LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch: OnMismatch::Refuse });
    Acquire { limit, enqueue: Enqueue::No, ..acquisition(ticket, 30 * SECOND) }
}

fn renewal(number: u128) -> Request {
    let (ttl, margin, ticket) = (30 * SECOND, SECOND, ticket(number));
    let whom = Whom::Tickets(vec![ticket]);
    Request::Renew(Renew { lease: ticket.lease(), ttl, margin, whom })
}

fn is_granted(reply: &Reply) -> bool {
    matches!(reply, Reply::Granted(_))
}

fn is_renewed(reply: &Reply) -> bool {
    matches!(reply, Reply::Tickets { tickets, .. } if matches!(tickets[0], TicketReply::Held { .. }))
}

#[tokio::test]
async fn one_node_that_is_killed_is_not_missed() {
    let mut nodes = Ensemble::start();
    let client = nodes.client(1).await;
    assert!(is_granted(&client.attempt(1, 1).await));
    nodes.servers[1].kill();
    let busy = client.attempt(2, 1).await;
    assert!(matches!(busy, Reply::Busy { why: Busy::Full, .. }), "{busy:?}");
    assert!(is_renewed(&client.ask(renewal(1)).await.unwrap()));
    assert!(matches!(client.ask(release(1)).await, Ok(Reply::Released { left: 0, .. })));
    client.until_granted(3).await;
}

#[tokio::test]
async fn one_node_that_is_paused_holds_up_nobody_for_long() {
    let nodes = Ensemble::start();
    let client = nodes.client(1).await;
    nodes.servers[0].pause();
    let began = Instant::now();
    for ticket in 1..20 {
        assert!(is_granted(&client.attempt(ticket, 1).await));
        client.ask(release(ticket)).await.unwrap();
    }
    // The silent node is waited for once, and then no more until it has answered.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    nodes.servers[0].resume();
}

#[tokio::test]
async fn without_a_majority_nothing_is_granted_and_why_is_said() {
    let mut nodes = Ensemble::start();
    let client = nodes.client(1).await;
    nodes.servers[0].kill();
    nodes.servers[1].kill();
    let error = client.ask(Request::Acquire(attempt(1, 1))).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("of 3 nodes"), "{error}");
    let refused = Client::connect(&nodes.url("restart-guard=off"), 2).await.err().unwrap();
    assert!(
        refused.to_string().contains("1 of 3 nodes can be used, and 2 are needed"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_renewal_writes_down_at_a_node_that_forgot_what_a_majority_knows() {
    let mut nodes = Ensemble::start();
    let client = nodes.client(1).await;
    assert!(is_granted(&client.attempt(1, 1).await));
    nodes.servers[0].kill();
    nodes.servers[0].start_again();
    let key = cmd("EXISTS").arg("seinpaal:{n}").clone();
    while nodes.say::<u32>(0, &key).await == 0 {
        assert!(is_renewed(&client.ask(renewal(1)).await.unwrap()));
    }
    // Now another node may fail, because two nodes still have the permit.
    nodes.servers[1].kill();
    assert!(is_renewed(&client.ask(renewal(1)).await.unwrap()));
    assert!(!is_granted(&client.attempt(2, 1).await));
}

/// While each of the three clients asks, another node is paused. So each client reaches two nodes.
#[tokio::test]
async fn three_clients_that_each_reach_two_nodes_have_two_permits_at_most() {
    let nodes = Ensemble::start();
    let clients = [nodes.client(1).await, nodes.client(2).await, nodes.client(3).await];
    for round in 0..10_u128 {
        let mut granted = Vec::new();
        for (number, client) in clients.iter().enumerate() {
            let ticket = 1 + round * 3 + number as u128;
            nodes.servers[(number + 2) % 3].pause();
            if is_granted(&client.attempt(ticket, 2).await) {
                granted.push((client, ticket));
            }
            nodes.servers[(number + 2) % 3].resume();
        }
        assert!(granted.len() <= 2, "{} of 2 granted", granted.len());
        for (client, ticket) in granted {
            client.ask(release(ticket)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn with_the_guard_two_nodes_that_forgot_admit_nobody_and_without_it_they_do() {
    for (guard, is_kept) in [("restart-guard=10m", true), ("restart-guard=off", false)] {
        let mut nodes = Ensemble::start();
        if is_kept {
            for node in 0..3 {
                mark(&nodes, node, 600 * SECOND).await;
            }
        }
        let client = Client::connect(&nodes.url(guard), 1).await.unwrap();
        assert!(is_granted(&client.attempt(1, 1).await));
        for node in 0..2 {
            nodes.servers[node].kill();
            nodes.servers[node].start_again();
        }
        let other = Client::connect(&nodes.url(guard), 2).await.unwrap();
        let reply = other.attempt(2, 1).await;
        let is_guarded = matches!(reply, Reply::Busy { why: Busy::Guarded, .. });
        assert_eq!((is_guarded, is_granted(&reply)), (is_kept, !is_kept), "{guard}: {reply:?}");
    }
}

/// Makes the marker look as if this run of the server had been here for long.
async fn mark(nodes: &Ensemble, node: usize, guard: u64) {
    let info: String = nodes.say(node, cmd("INFO").arg("server")).await;
    let run = info.lines().find_map(|line| line.strip_prefix("run_id:")).unwrap().trim();
    let mut marker = cmd("HSET");
    marker.arg("seinpaal:node").arg("run").arg(run).arg("guard").arg(guard);
    nodes.say::<u32>(node, marker.arg("left").arg(0).arg("wall").arg(0)).await;
}

#[tokio::test]
async fn a_client_that_states_another_guard_is_told_both() {
    let nodes = Ensemble::start();
    let _first = Client::connect(&nodes.url("restart-guard=2m"), 1).await.unwrap();
    let error = Client::connect(&nodes.url("restart-guard=3m"), 2).await.err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert!(error.to_string().contains("120s") && error.to_string().contains("180s"), "{error}");
}

#[tokio::test]
async fn a_ttl_that_the_guard_does_not_cover_is_refused() {
    let nodes = Ensemble::start();
    let client = Client::connect(&nodes.url("restart-guard=10s"), 1).await.unwrap();
    assert_eq!(client.store.longest_ttl(), Some(Duration::from_secs(8)));
    let error = client.ask(Request::Acquire(attempt(1, 1))).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
    assert!(error.to_string().contains("restart-guard=38s"), "{error}");
}

#[tokio::test]
async fn two_nodes_that_are_one_server_are_refused() {
    let nodes = Ensemble::start();
    let (one, other) = (nodes.servers[0].port(), nodes.servers[1].port());
    let url = format!("redis+quorum://127.0.0.1:{one},localhost:{one},127.0.0.1:{other}");
    let error = Client::connect(&url, 1).await.err().unwrap();
    assert!(error.to_string().contains("same server"), "{error}");
}

#[tokio::test]
async fn a_minority_is_released_at_once_and_nothing_is_left_for_ever() {
    let nodes = Ensemble::start();
    let (one, other) = (nodes.client(1).await, nodes.client(2).await);
    assert!(is_granted(&one.attempt(1, 1).await));
    for ticket in 2..30 {
        assert!(!is_granted(&other.attempt(ticket, 1).await));
    }
    one.ask(release(1)).await.unwrap();
    for node in 0..3 {
        let keys: Vec<String> = nodes.say(node, cmd("KEYS").arg("*")).await;
        for key in keys {
            let left: i64 = nodes.say(node, cmd("PTTL").arg(&key)).await;
            assert!(left > 0, "{key} stays for ever");
        }
    }
    other.until_granted(99).await;
}

#[tokio::test]
async fn a_waiter_is_granted_without_any_hint() {
    let nodes = Ensemble::start();
    let (one, mut other) = (nodes.client(1).await, nodes.client(2).await);
    assert!(is_granted(&one.attempt(1, 1).await));
    let waiting = Acquire { enqueue: Enqueue::Yes { max_waiting: None }, ..attempt(2, 1) };
    assert!(matches!(other.ask(Request::Acquire(waiting)).await, Ok(Reply::Queued { .. })));
    for node in 0..3 {
        let _: () = nodes.say(node, cmd("CLIENT").arg("KILL").arg("TYPE").arg("pubsub")).await;
    }
    one.ask(release(1)).await.unwrap();
    let told = async { while !matches!(other.news.recv().await, Some(News::Wakeup(_))) {} };
    tokio::time::timeout(Duration::from_secs(30), told).await.expect("it asks again by itself");
}

/// The place of the count of permits held among the words of a head (`HEAD` in `state.lua`).
const HELD: usize = 2 + 11;

#[tokio::test]
async fn a_node_whose_ledger_contradicts_itself_is_found_and_named() {
    let ensemble = Ensemble::start();
    let client = ensemble.client(1).await;
    client.until_granted(1).await;
    let seen = client.store.examine(100).await.unwrap();
    assert!(seen.is_clean() && seen.names == 3, "at each node: {seen:?}");
    let head: String = ensemble.say(1, cmd("HGET").arg("seinpaal:{n}").arg("h")).await;
    let mut words: Vec<_> = head.split(' ').collect();
    assert_eq!((words[0], words[HELD]), ("30", "1"), "{head}");
    words[HELD] = "3";
    let damaged = words.join(" ");
    ensemble.say::<()>(1, cmd("HSET").arg("seinpaal:{n}").arg("h").arg(damaged)).await;
    let seen = client.store.examine(100).await.unwrap();
    let found: Vec<_> = seen.contradictions.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    let port = ensemble.servers[1].port().to_string();
    assert!(found[0].contains(&port) && found[0].contains("counts 3 permits held"), "{found:?}");
}

#[tokio::test]
async fn data_that_is_not_ours_is_refused_and_says_why() {
    let nodes = Ensemble::start();
    let client = nodes.client(1).await;
    for (value, kind) in [
        // The heads of earlier formats were packed, and began with the number in a byte.
        ("\u{c}s", StoreErrorKind::OtherVersion),
        ("31 s 1", StoreErrorKind::OtherVersion),
        ("30 s 1", StoreErrorKind::Corrupt),
        ("hello", StoreErrorKind::Corrupt),
    ] {
        for node in 0..3 {
            nodes.say::<()>(node, cmd("HSET").arg("seinpaal:{n}").arg("h").arg(value)).await;
        }
        let error = client.ask(Request::Acquire(attempt(1, 1))).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{value:?}: {error}");
        for node in 0..3 {
            let fields: u32 = nodes.say(node, cmd("HLEN").arg("seinpaal:{n}")).await;
            assert_eq!(fields, 1, "nothing was written");
        }
    }
}
