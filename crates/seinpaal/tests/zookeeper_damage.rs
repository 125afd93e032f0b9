//! The ZooKeeper store when somebody deletes its znodes, or puts others between them.

#[path = "support/zookeeper.rs"]
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use seinpaal::store::{Certainty, Store, StoreError, StoreErrorKind};
use seinpaal_proto::time::SECOND;
use seinpaal_rig::ZookeeperEnsemble;
use support::{Client, acquire, granted, release};

/// How long a test waits for an answer that must come. No verdict depends on its length.
const LONG: Duration = Duration::from_secs(60);

fn url(chroot: &str) -> String {
    format!("{}/damage/{chroot}", ZookeeperEnsemble::shared().url())
}

/// Asks for a permit, and returns the refusal. A call that never ends fails the test.
async fn damage(client: &Client, name: &str, ticket: u128) -> StoreError {
    let asked = tokio::time::timeout(LONG, client.ask(name, acquire(ticket)));
    let error = asked.await.expect("an answer").expect_err("the data is gone");
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert_eq!(error.certainty(), Certainty::NotExecuted);
    error
}

#[tokio::test]
async fn a_folder_that_was_deleted_is_made_again_by_the_next_client_that_connects() {
    let client = Client::connect(&url("bare"), 1).await;
    support::plain().await.delete("/damage/bare/names", None).await.unwrap();
    let said = damage(&client, "n", 1).await.to_string();
    assert!(said.contains("was deleted: connect again"), "{said}");
    let second = Client::connect(&url("bare"), 2).await;
    granted(second.ask("n", acquire(2)).await.unwrap());
}

#[tokio::test]
async fn a_name_whose_base_was_deleted_is_damaged_for_clients_with_and_without_a_copy() {
    let client = Client::connect(&url("torn"), 1).await;
    granted(client.ask("n", acquire(1)).await.unwrap());
    support::delete_children("/damage/torn/names/n").await;
    let without_copy = Client::connect(&url("torn"), 2).await;
    for client in [client, without_copy] {
        let said = damage(&client, "n", 2).await.to_string();
        assert!(said.contains("/damage/torn/names/n is not ours or is damaged"), "{said}");
        granted(client.ask(&format!("of {:?}", client.inbox), acquire(3)).await.unwrap());
        assert_eq!(client.store.examine(10).await.unwrap().contradictions.len(), 1);
    }
}

#[tokio::test]
async fn a_name_with_a_foreign_child_is_damaged_when_it_would_be_forgotten() {
    let clock = Arc::new(AtomicU64::new(1_000_000_000_000_000));
    let client = Client::try_connect(&url("child"), 1, Some(clock.clone())).await.unwrap();
    granted(client.ask("n", acquire(1)).await.unwrap());
    client.ask("n", release(1)).await.unwrap();
    support::put("/damage/child/names/n/foreign", b"not ours").await;
    clock.fetch_add(61 * SECOND, Ordering::SeqCst);
    let batch = client.batch("n", vec![]);
    let settled = tokio::time::timeout(LONG, client.store.call(&batch)).await;
    let error = settled.expect("an answer").expect_err("a foreign child");
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    granted(client.ask("n", acquire(2)).await.unwrap());
}
