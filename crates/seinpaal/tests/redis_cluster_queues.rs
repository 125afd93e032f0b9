//! Queues on a real Redis cluster: a hash slot that moves while somebody waits, and a master that dies.

#[path = "support/requests.rs"]
mod requests;

use std::time::Duration;

use requests::Client;
use seinpaal::store::{News, Store};
use seinpaal_proto::{
    Name, Priority,
    queue::{Batch, Delivery, Due, How, Pop, Popped, Push, Reply, Request, What},
    time::SECOND,
};
use seinpaal_rig::RedisCluster;
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(30);

/// One that sends its batches again until they are answered, as a session does.
struct Worker {
    client: Client,
    number: u64,
}

impl Worker {
    async fn connect(cluster: &RedisCluster, inbox: u128) -> Self {
        Self { client: Client::connect(&cluster.url(), inbox).await, number: 0 }
    }

    async fn insist(&mut self, requests: Vec<Request>) -> Vec<Reply> {
        self.number += 1;
        let (name, session) = (Name::new("moved").unwrap(), self.client.inbox);
        let batch =
            Batch { name, session, number: self.number, not_after: 1 << 52, seen: 0, requests };
        let insisting = async {
            loop {
                match self.client.store.call_queue(&batch).await {
                    Ok(replies) => return replies.replies,
                    Err(error) => assert!(error.is_passing(), "{error}"),
                }
            }
        };
        timeout(BOUND, insisting).await.expect("an answer")
    }

    async fn push(&mut self, payload: &[u8]) {
        let push = Push {
            payload: payload.to_vec(),
            priority: Priority::default(),
            due: Due::Now,
            group: None,
            dedup: None,
            most: 3,
            about: String::new(),
        };
        let replies = self.insist(vec![Request::Push(push)]).await;
        assert!(matches!(replies[0], Reply::Pushed { .. }), "{replies:?}");
    }

    async fn pop(&mut self) -> Vec<Popped> {
        let (ttl, margin, about) = (60 * SECOND, SECOND, String::new());
        let pop = Pop { items: 1, ttl, margin, wait: true, drains: false, about };
        match self.insist(vec![Request::Pop(pop)]).await.remove(0) {
            Reply::Popped { items, .. } => items,
            other => panic!("{other:?}"),
        }
    }

    async fn acknowledge(&mut self, delivery: Delivery) -> Reply {
        let how = How::Acknowledge;
        self.insist(vec![Request::Finish { delivery, how }]).await.remove(0)
    }

    async fn is_called(&mut self) {
        let called = async {
            loop {
                let news = self.client.news.recv().await.expect("news");
                if matches!(&news, News::Queue(wakeup) if wakeup.what == What::Called) {
                    return;
                }
            }
        };
        timeout(BOUND, called).await.expect("a call in time");
    }
}

fn keys() -> [String; 2] {
    ["seinpaal:{moved}:q".to_owned(), "seinpaal:{moved}:q:o".to_owned()]
}

#[tokio::test]
async fn a_queue_whose_hash_slot_moves_key_by_key_loses_no_item_no_delivery_and_no_worker() {
    let cluster = RedisCluster::start_with(3, 0, &[]);
    let (mut maker, mut worker) =
        (Worker::connect(&cluster, 1).await, Worker::connect(&cluster, 2).await);
    maker.push(b"one").await;
    let first = worker.pop().await.remove(0);
    assert!(worker.pop().await.is_empty());
    let [records, order] = keys();
    let (hash_slot, from) = (cluster.hash_slot_of(&records), cluster.owner_of(&records));
    let to = (0..3).find(|i| *i != from).unwrap();

    cluster.begin_move(hash_slot, from, to);
    cluster.move_keys(from, to, &[&records, &order]);
    cluster.nodes()[to].say(&["SCRIPT", "FLUSH"]);
    assert!(matches!(worker.acknowledge(first.delivery).await, Reply::Acknowledged { .. }));
    cluster.end_move(hash_slot, from, to);
    // The worker's place is still there, and it is heard at the new node.
    assert_eq!(timeout(BOUND, worker.client.news.recv()).await.unwrap(), Some(News::LookAgain));
    maker.push(b"two").await;
    worker.is_called().await;
    assert_eq!(worker.pop().await.remove(0).payload, b"two");
    let listed = maker.client.store.list_queues("").await.unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
}
