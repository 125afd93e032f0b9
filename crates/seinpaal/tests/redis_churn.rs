//! Clients whose connections are cut over and over, with the real driver. The limit is kept, and
//! every client gets through.
#![cfg(feature = "redis")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use seinpaal::{Seinpaal, Semaphore};
use seinpaal_rig::RedisServer;

const CLIENTS: usize = 12;
const ROUNDS: usize = 60;
const LIMIT: u32 = 3;

/// How many clients are inside, and the most that ever were.
#[derive(Default)]
struct Room {
    inside: AtomicU32,
    most: AtomicU32,
}

impl Room {
    async fn visit(&self) {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn rounds(semaphore: Semaphore, room: Arc<Room>) {
    for _ in 0..ROUNDS {
        let permit = semaphore.acquire().await.expect("the store comes back each time");
        room.visit().await;
        assert!(permit.is_held());
        drop(permit);
    }
}

/// Cuts all connections but its own, and flushes the scripts, until it is told to stop.
async fn cut(url: String, is_over: Arc<AtomicBool>) -> u32 {
    let client = redis::Client::open(url).expect("a URL");
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await;
    let mut connection = connection.expect("a connection");
    let mut cuts = 0;
    let mut pace = tokio::time::interval(Duration::from_millis(30));
    while !is_over.load(Ordering::SeqCst) {
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("normal").arg("SKIPME").arg("yes");
        let killed: u32 = kill.query_async(&mut connection).await.expect("an answer");
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("pubsub").arg("SKIPME").arg("yes");
        let silenced: u32 = kill.query_async(&mut connection).await.expect("an answer");
        let mut flush = redis::cmd("SCRIPT");
        let () = flush.arg("FLUSH").query_async(&mut connection).await.expect("an answer");
        cuts += killed + silenced;
        pace.tick().await;
    }
    cuts
}

#[tokio::test]
async fn clients_that_are_cut_off_over_and_over_all_get_through_and_never_one_too_many() {
    let server = RedisServer::start();
    let (room, is_over) = (Arc::new(Room::default()), Arc::new(AtomicBool::new(false)));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("a connection");
        let semaphore = seinpaal.semaphore("churn").limit(LIMIT);
        clients.push(tokio::spawn(rounds(semaphore, Arc::clone(&room))));
    }
    let cutting = tokio::spawn(cut(server.socket_url(""), Arc::clone(&is_over)));
    for client in clients {
        client.await.expect("the client got through");
    }
    is_over.store(true, Ordering::SeqCst);
    let cuts = cutting.await.expect("the cutter ended");
    println!("{cuts} connections were cut");
    assert!(cuts > 0, "nothing was cut");
    let most = room.most.load(Ordering::SeqCst);
    assert!(most <= LIMIT, "{most} were inside at once");
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("a connection");
    let semaphore = seinpaal.semaphore("churn");
    while semaphore.snapshot().await.expect("an answer").permits_held > 0 {
        tokio::task::yield_now().await;
    }
}
