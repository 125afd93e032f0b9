use seinpaal_proto::{
    Name,
    queue::{Batch, GroupRow, Pop, Push, Request},
};

use crate::{
    CaseStage,
    queue::requests::{
        AT_ONCE, HOUR, MINUTE, SECOND, allowed, delayed, fail, item, keyed, limit, of_group, pause,
        pop, waiting,
    },
    requests::TTL_MICROS,
    stage::random,
};

pub async fn a_snapshot_counts_everything(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(allowed("dead", 1)).await;
    let held = client.take().await;
    client.finish(held.delivery, fail("no", AT_ONCE)).await;
    client.push_all(&["in work", "a", "b"]).await;
    client.take().await;
    stage.advance(2 * SECOND);
    client.push(delayed("delayed", MINUTE)).await;
    stage.advance(SECOND);
    let seen = client.look().await;
    assert_eq!([seen.ready, seen.delayed, seen.in_work, seen.dead], [2, 1, 1, 1]);
    assert_eq!((seen.oldest, seen.next_due), (Some(3_000_000), Some(59_000_000)));
    assert_eq!((seen.limit, seen.group_limit, seen.paused), (None, None, None));
}

pub async fn a_snapshot_counts_idle_workers(stage: &CaseStage) {
    let (one, other) = (stage.queue_client().await, stage.queue_client().await);
    one.wait_for(1).await;
    other.wait_for(5).await;
    other.wait_for(5).await;
    assert_eq!(one.look().await.idle, 2);
    one.one(Request::Leave).await;
    assert_eq!(one.look().await.idle, 1);
}

pub async fn a_snapshot_tells_a_queue_that_nobody_works_on(stage: &CaseStage) {
    let (client, worker) = (stage.queue_client().await, stage.queue_client().await);
    let counts = async || {
        let seen = client.look().await;
        [seen.ready, seen.in_work, seen.idle]
    };
    client.push_all(&["a", "b"]).await;
    assert_eq!(counts().await, [2, 0, 0], "nobody has come");
    let held = worker.take().await;
    assert_eq!(counts().await, [1, 1, 0], "somebody works");
    worker.acknowledge(held.delivery).await;
    assert_eq!(counts().await, [1, 0, 0], "it has gone");
    client.one(limit(0)).await;
    worker.wait_for(1).await;
    assert_eq!(counts().await, [1, 0, 1], "somebody waits");
    worker.one(Request::Leave).await;
    assert_eq!(counts().await, [1, 0, 0], "it has gone, too");
}

pub async fn a_snapshot_does_not_count_a_worker_that_died(stage: &CaseStage) {
    let (client, worker) = (stage.queue_client().await, stage.queue_client().await);
    worker.wait_for(1).await;
    stage.vanish_from_queue(worker).await;
    client.push(item("a")).await;
    client.settle().await;
    let seen = client.look().await;
    assert_eq!([seen.ready, seen.in_work, seen.idle], [1, 0, 0]);
}

pub async fn a_snapshot_shows_who_works_on_what(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(of_group("{g} 号", "a")).await;
    let about = "host {号}".to_owned();
    let held = client.pop_as(Pop { about: about.clone(), ..pop(1) }).await.remove(0);
    stage.advance(SECOND);
    let row = client.look().await.work.remove(0);
    let seen = (row.id, row.fence, row.attempt, row.by, row.about);
    let known = (held.delivery.id, held.delivery.fence, 1, client.inbox(), about);
    assert_eq!(seen, known);
    assert_eq!((row.group.as_deref(), row.worked), (Some("{g} 号"), 1_000_000));
    let lasts = row.valid_for.unwrap_or(TTL_MICROS - 1_000_000);
    assert_eq!(lasts, TTL_MICROS - 1_000_000);
}

pub async fn a_snapshot_shows_groups_by_name(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for group in ["b", "号", "a", "{c}", "b"] {
        client.push(of_group(group, group)).await;
    }
    client.take().await;
    let row = |(group, in_work, ready): (&str, u32, u32)| {
        let group = Name::new(group).unwrap();
        GroupRow { group, in_work, ready }
    };
    let known = [("a", 0, 1), ("b", 1, 1), ("{c}", 0, 1), ("号", 0, 1)].map(row);
    assert_eq!(client.look().await.groups, known);
    assert_eq!(client.look_at(2).await.groups, known[..2]);
}

pub async fn a_snapshot_lists_as_many_as_asked_for_and_counts_all(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["x"; 50]).await;
    let held = client.pop(40).await;
    let seen = client.look_at(7).await;
    let listed: Vec<_> = seen.work.iter().map(|row| row.id).collect();
    let known: Vec<_> = held.iter().take(7).map(|popped| popped.delivery.id).collect();
    assert_eq!((seen.in_work, listed), (40, known));
    assert_eq!(client.look_at(0).await.work, []);
}

pub async fn looking_at_a_queue_does_not_make_it(stage: &CaseStage) {
    let client = stage.queue_client().await;
    assert_eq!(client.look().await, Default::default());
    assert_eq!(client.dead().await, []);
    assert_eq!(client.store().list_queues(stage.name()).await.unwrap(), []);
    assert!(stage.harness().queues().is_none_or(|queues| queues == 0));
}

pub async fn the_list_has_every_queue_in_use_that_begins_so(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let prefix = format!("list*[{:x}]", random());
    let name = |suffix: &str| Name::new(&format!("{prefix}{suffix}")).unwrap();
    let requests = [
        ("/b", Request::Push(item("a"))),
        ("/a", limit(2)),
        ("{c}", pause("repairs")),
        ("{d}", Request::Pop(waiting(1))),
        ("号", Request::Push(delayed("a", HOUR))),
        ("-", Request::Inspect { rows: 1 }),
    ];
    for (suffix, request) in requests {
        client.call(&Batch { name: name(suffix), ..client.batch(vec![request]) }).await;
    }
    let listed = client.store().list_queues(&prefix).await.unwrap();
    let names: Vec<_> = listed.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["/a", "/b", "{c}", "{d}", "号"].map(name));
    assert_eq!((listed[0].1.limit, listed[1].1.ready), (Some(2), 1));
    assert_eq!(listed[2].1.paused.as_deref(), Some("repairs"));
    assert_eq!((listed[3].1.idle, listed[4].1.delayed), (1, 1));
}

pub async fn a_listed_queue_is_counted_and_shows_no_rows(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(of_group("g", "a")).await;
    client.push(of_group("g", "b")).await;
    client.take().await;
    let listed = client.store().list_queues(stage.name()).await.unwrap();
    let seen = &listed[0].1;
    assert_eq!((seen.ready, seen.in_work), (1, 1));
    assert_eq!((&seen.work[..], &seen.groups[..]), (&[][..], &[][..]));
}

pub async fn a_queue_that_was_used_up_is_forgotten(stage: &CaseStage) {
    let (client, worker) = (stage.queue_client().await, stage.queue_client().await);
    client.push(Push { due: delayed("", SECOND).due, ..keyed("k", MINUTE) }).await;
    client.push(of_group("g", "a")).await;
    let held = worker.take().await;
    worker.acknowledge(held.delivery).await;
    stage.advance(SECOND);
    let held = worker.take().await;
    worker.wait_for(1).await;
    worker.acknowledge(held.delivery).await;
    worker.one(Request::Leave).await;
    assert_eq!(client.store().list_queues(stage.name()).await.unwrap(), []);
    stage.advance(HOUR);
    client.settle().await;
    assert!(stage.harness().queues().is_none_or(|queues| queues == 0));
}
