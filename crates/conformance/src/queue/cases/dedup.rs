use seinpaal_proto::queue::{ItemId, Purge, Reply, Request};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{HOUR, MINUTE, SECOND, delayed, keyed},
    },
};

/// Pushes an item that must be refused because of the item `id`.
async fn refused(client: &QueueClient<'_>, key: &str, id: ItemId) {
    let reply = client.one(Request::Push(keyed(key, MINUTE))).await;
    assert_eq!(reply, Reply::Duplicate { id });
}

pub async fn a_key_is_refused_for_its_window_and_not_a_moment_longer(stage: &CaseStage) {
    let (client, other) = (stage.queue_client().await, stage.queue_client().await);
    let id = client.push(keyed("k", MINUTE)).await;
    refused(&client, "k", id).await;
    stage.advance(59 * SECOND);
    refused(&other, "k", id).await;
    stage.advance(SECOND);
    assert!(client.push(keyed("k", MINUTE)).await > id);
    assert_eq!(client.counts().await, [2, 0, 0, 0]);
}

pub async fn a_refused_push_does_not_lengthen_the_window(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(keyed("k", MINUTE)).await;
    stage.advance(30 * SECOND);
    refused(&client, "k", id).await;
    stage.advance(30 * SECOND);
    client.push(keyed("k", MINUTE)).await;
}

pub async fn a_key_is_remembered_after_its_item_was_acknowledged(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(keyed("k", MINUTE)).await;
    let held = client.take().await;
    refused(&client, "k", id).await;
    client.acknowledge(held.delivery).await;
    stage.advance(59 * SECOND);
    refused(&client, "k", id).await;
}

pub async fn a_cancelled_item_can_be_pushed_again_under_its_key(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(keyed("k", MINUTE)).await;
    client.one(Request::Cancel { id, spares_work: false }).await;
    let again = client.push(keyed("k", MINUTE)).await;
    refused(&client, "k", again).await;
    client.one(Request::Cancel { id, spares_work: false }).await;
    refused(&client, "k", again).await;
}

pub async fn what_was_purged_can_be_pushed_again_under_its_key(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(keyed("a", MINUTE)).await;
    let later = delayed("b", SECOND);
    client.push(seinpaal_proto::queue::Push { due: later.due, ..keyed("b", MINUTE) }).await;
    client.one(Request::Purge(Purge::Waiting)).await;
    client.push(keyed("a", MINUTE)).await;
    client.push(keyed("b", MINUTE)).await;
}

pub async fn keys_are_apart_whatever_is_in_them(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let odd = ["{", "}", "{a}b", " ", "  ", "/", "'\"", ":*?[x]", "\\", "%", "号", "\u{a0}"];
    let mut ids = Vec::new();
    for key in odd {
        ids.push(client.push(keyed(key, MINUTE)).await);
    }
    for (key, id) in odd.into_iter().zip(ids) {
        refused(&client, key, id).await;
    }
}

pub async fn a_key_can_be_remembered_for_a_week(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(keyed("k", 7 * 24 * HOUR)).await;
    client.acknowledge(client.take().await.delivery).await;
    stage.advance(7 * 24 * HOUR - SECOND);
    client.settle().await;
    refused(&client, "k", id).await;
    stage.advance(SECOND);
    client.push(keyed("k", MINUTE)).await;
}
