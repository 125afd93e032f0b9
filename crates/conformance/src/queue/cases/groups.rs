use std::collections::BTreeSet;

use seinpaal_proto::{
    Name, Priority,
    queue::{Configure, Push, Request},
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{AT_ONCE, give_back, group_limit, item, of_group},
    },
};

async fn limited(stage: &CaseStage, limit: u32) -> QueueClient<'_> {
    let client = stage.queue_client().await;
    client.one(group_limit(limit)).await;
    client
}

async fn push_to(client: &QueueClient<'_>, group: &str, texts: &[&str]) {
    for text in texts {
        client.push(of_group(group, text)).await;
    }
}

pub async fn no_more_items_of_a_group_are_in_work_than_its_limit(stage: &CaseStage) {
    let (client, other) = (limited(stage, 2).await, stage.queue_client().await);
    push_to(&client, "a", &["a1", "a2", "a3"]).await;
    assert_eq!(client.texts(1).await, ["a1"]);
    assert_eq!(other.texts(9).await, ["a2"]);
    assert_eq!(client.counts().await, [1, 0, 2, 0]);
}

pub async fn a_full_group_does_not_hold_up_others(stage: &CaseStage) {
    let client = limited(stage, 1).await;
    push_to(&client, "a", &["a1", "a2", "a3"]).await;
    push_to(&client, "b", &["b1", "b2"]).await;
    client.push(item("of none")).await;
    assert_eq!(client.texts(9).await, ["a1", "b1", "of none"]);
}

pub async fn items_without_a_group_know_no_limit_of_groups(stage: &CaseStage) {
    let client = limited(stage, 1).await;
    client.push_all(&["a", "b", "c"]).await;
    assert_eq!(client.texts(9).await, ["a", "b", "c"]);
}

pub async fn a_group_goes_on_in_its_order_when_it_has_room_again(stage: &CaseStage) {
    let client = limited(stage, 2).await;
    push_to(&client, "a", &["a1", "a2", "a3", "a4"]).await;
    let held = client.pop(9).await;
    client.acknowledge(held[1].delivery).await;
    assert_eq!(client.texts(9).await, ["a3"]);
    client.finish(held[0].delivery, give_back(AT_ONCE)).await;
    assert_eq!(client.texts(9).await, ["a1"]);
}

pub async fn within_a_group_priority_counts(stage: &CaseStage) {
    let client = limited(stage, 1).await;
    push_to(&client, "a", &["a1"]).await;
    let priority = Priority::new(5).unwrap();
    client.push(Push { priority, ..of_group("a", "urgent") }).await;
    let held = client.take().await;
    assert_eq!(held.payload, b"urgent");
    client.acknowledge(held.delivery).await;
    assert_eq!(client.texts(9).await, ["a1"]);
}

pub async fn the_limit_of_groups_can_be_changed_at_any_time(stage: &CaseStage) {
    let client = limited(stage, 1).await;
    push_to(&client, "a", &["a1", "a2", "a3"]).await;
    push_to(&client, "b", &["b1", "b2", "b3"]).await;
    assert_eq!(client.texts(9).await, ["a1", "b1"]);
    client.one(group_limit(2)).await;
    assert_eq!(client.texts(9).await, ["a2", "b2"]);
    client.one(group_limit(1)).await;
    assert_eq!(client.texts(9).await, [""; 0]);
    client.one(Request::Configure(Configure::GroupLimit(None))).await;
    assert_eq!(client.texts(9).await, ["a3", "b3"]);
}

pub async fn a_lowered_group_limit_holds_back_ready_items(stage: &CaseStage) {
    let client = stage.queue_client().await;
    push_to(&client, "a", &["a1", "a2", "a3"]).await;
    client.push(item("of none")).await;
    let held = client.take().await;
    client.one(group_limit(1)).await;
    assert_eq!(client.texts(9).await, ["of none"]);
    client.acknowledge(held.delivery).await;
    assert_eq!(client.texts(9).await, ["a2"]);
}

pub async fn a_group_may_have_any_name(stage: &CaseStage) {
    let client = limited(stage, 1).await;
    let long = "é".repeat(256);
    let odd = ["{", "}", "{a}b", " ", "/", "'\"", ":*?[x]", "\\", "%", "-", "号", "\u{a0}", &long];
    for group in odd {
        push_to(&client, group, &[group, "the next one"]).await;
    }
    assert_eq!(client.texts(64).await, odd);
    let seen = client.look().await;
    let rows: BTreeSet<_> = seen.groups.into_iter().map(|row| row.group).collect();
    assert_eq!(rows, odd.iter().map(|group| Name::new(group).unwrap()).collect());
}

pub async fn more_full_groups_than_one_call_looks_at_come_in_one_call_after_the_other(
    stage: &CaseStage,
) {
    let client = limited(stage, 0).await;
    let groups: Vec<_> = (0..300).map(|number| format!("g{number:03}")).collect();
    for some in groups.chunks(60) {
        let push = |group: &String| Request::Push(of_group(group, group));
        client.send(some.iter().map(push).collect()).await;
    }
    assert_eq!(client.texts(9).await, [""; 0]);
    client.one(group_limit(1)).await;
    client.settle().await;
    let mut delivered = Vec::new();
    for _ in 0..5 {
        delivered.extend(client.texts(64).await);
    }
    assert_eq!(delivered, groups);
}
