use seinpaal_proto::{
    Name,
    queue::{Ending, FailureReason, ItemId, Purge, Push, Reply, Request, RowState},
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{
            AT_ONCE, MINUTE, SECOND, allowed, delayed, fail, give_back, group_limit, item, of_group,
        },
    },
    requests::TTL,
};

/// Takes an item, which must be there, and fails it.
async fn fail_one(client: &QueueClient<'_>, reason: &str) -> Reply {
    let held = client.take().await;
    client.finish(held.delivery, fail(reason, AT_ONCE)).await
}

/// Items that are dead.
async fn dead<const N: usize>(client: &QueueClient<'_>) -> [ItemId; N] {
    let mut ids = [ItemId(0); N];
    for (at, id) in ids.iter_mut().enumerate() {
        *id = client.push(allowed(&format!("dead {at}"), 1)).await;
        assert_eq!(fail_one(client, "no").await, Reply::Died { id: *id });
    }
    ids
}

fn failed(reason: &str) -> Ending {
    Ending::Failed(FailureReason::new(reason))
}

pub async fn an_item_that_failed_comes_again_after_its_delay(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(item("a")).await;
    let first = client.take().await;
    let reply = client.finish(first.delivery, fail("no route", 5 * SECOND)).await;
    assert_eq!(reply, Reply::Returned { id });
    stage.advance(5 * SECOND - std::time::Duration::from_millis(1));
    assert_eq!(client.texts(1).await, [""; 0]);
    stage.advance(std::time::Duration::from_millis(1));
    let second = client.take().await;
    assert_eq!((second.attempt, second.most), (2, 3));
    assert!(second.delivery.fence > first.delivery.fence);
}

pub async fn after_its_last_delivery_an_item_is_dead_with_the_reasons_in_their_order(
    stage: &CaseStage,
) {
    let (client, dying) = (stage.queue_client().await, stage.queue_client().await);
    let (pushed, id) = (stage.now(), client.push(item("a")).await);
    assert_eq!(fail_one(&client, "no route {号}").await, Reply::Returned { id });
    dying.take().await;
    stage.vanish_from_queue(dying).await;
    stage.advance(TTL);
    client.settle().await;
    assert_eq!(fail_one(&client, "").await, Reply::Died { id });
    let row = client.dead().await.remove(0);
    let endings = row.history.ends().iter().map(|past| (past.attempt, past.ending.clone()));
    let known = [(1, failed("no route {号}")), (2, Ending::Expired), (3, failed(""))];
    assert_eq!(endings.collect::<Vec<_>>(), known);
    assert_eq!((row.id, row.attempt, row.most, row.pushed), (id, 3, 3, pushed));
    assert_eq!(row.state, RowState::Dead { at: stage.now() });
    assert_eq!(client.counts().await, [0, 0, 0, 1]);
    assert_eq!(client.texts(1).await, [""; 0]);
}

pub async fn giving_back_is_no_delivery(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(allowed("a", 1)).await;
    for delay in [0, 1, 0] {
        let held = client.take().await;
        assert_eq!(held.attempt, 1);
        client.finish(held.delivery, give_back(delay * SECOND)).await;
        stage.advance(SECOND);
    }
    assert_eq!(fail_one(&client, "no").await, Reply::Died { id });
    assert_eq!(client.dead().await[0].history.ends().len(), 1);
}

pub async fn the_latest_eight_ends_are_remembered(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(allowed("a", 10)).await;
    for attempt in 1..=10 {
        fail_one(&client, &format!("reason {attempt}")).await;
    }
    let row = client.dead().await.remove(0);
    let kept = row.history.ends().iter().map(|past| past.ending.clone()).collect::<Vec<_>>();
    let known: Vec<_> = (3..=10).map(|attempt| failed(&format!("reason {attempt}"))).collect();
    assert_eq!(kept, known);
}

pub async fn a_dead_letter_shows_what_it_was_and_how_its_payload_begins(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let payload: Vec<_> = (0..300).map(|at| at as u8).collect();
    let group = Some(Name::new("{g}").unwrap());
    let about = "by hand".to_owned();
    client.push(Push { payload: payload.clone(), group, about, ..allowed("", 1) }).await;
    fail_one(&client, "no").await;
    let row = client.dead().await.remove(0);
    assert_eq!((row.bytes, &row.payload[..]), (300, &payload[..256]));
    assert_eq!((row.group.as_deref(), &row.about[..]), (Some("{g}"), "by hand"));
}

pub async fn a_dead_letter_that_is_replayed_has_all_its_deliveries_and_is_last_in_line(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    let [id] = dead(&client).await;
    client.push(item("a")).await;
    stage.advance(SECOND);
    assert_eq!(client.one(Request::Replay { id }).await, Reply::Replayed { id });
    assert_eq!(client.counts().await, [2, 0, 0, 0]);
    assert_eq!(client.texts(1).await, ["a"]);
    let again = client.take().await;
    assert_eq!((again.delivery.id, again.attempt), (id, 1));
    client.finish(again.delivery, fail("again", AT_ONCE)).await;
    assert_eq!(client.dead().await[0].history.ends().len(), 2, "what happened is known");
}

pub async fn a_dead_letter_can_be_dropped(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let [a, b] = dead(&client).await;
    assert_eq!(client.one(Request::Drop { id: a }).await, Reply::Dropped { id: a });
    assert_eq!(client.one(Request::Drop { id: a }).await, Reply::Unknown { id: a });
    assert_eq!(client.one(Request::Replay { id: a }).await, Reply::Unknown { id: a });
    assert_eq!(client.dead().await.iter().map(|row| row.id).collect::<Vec<_>>(), [b]);
}

pub async fn only_dead_letters_are_replayed_and_dropped_and_they_are_not_cancelled(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    let [id] = dead(&client).await;
    assert_eq!(client.one(Request::Cancel { id, spares_work: false }).await, Reply::Unknown { id });
    let ready = client.push(item("ready")).await;
    let later = client.push(delayed("later", SECOND)).await;
    for id in [ready, later, ItemId(1)] {
        assert_eq!(client.one(Request::Replay { id }).await, Reply::Unknown { id });
        assert_eq!(client.one(Request::Drop { id }).await, Reply::Unknown { id });
    }
    assert_eq!(client.counts().await, [1, 1, 0, 1]);
}

pub async fn a_purge_takes_what_waits_and_nothing_else_in_bounded_steps(stage: &CaseStage) {
    let client = stage.queue_client().await;
    dead::<2>(&client).await;
    client.one(group_limit(1)).await;
    client.push(item("in work")).await;
    client.take().await;
    client.push(delayed("delayed", MINUTE)).await;
    client.push_all(&["x"; 100]).await;
    for _ in 0..2 {
        client.send(vec![Request::Push(of_group("g", "x")); 50]).await;
    }
    let purge = || Request::Purge(Purge::Waiting);
    assert_eq!(client.one(purge()).await, Reply::Purged { removed: 128, more: true });
    assert_eq!(client.one(purge()).await, Reply::Purged { removed: 73, more: false });
    assert_eq!(client.counts().await, [0, 0, 1, 2]);
}

pub async fn a_purge_of_dead_letters_takes_them_and_nothing_else_in_bounded_steps(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    for _ in 0..3 {
        client.send(vec![Request::Push(allowed("x", 1)); 50]).await;
        let held = client.pop(50).await;
        let failed = |it: &seinpaal_proto::queue::Popped| {
            crate::queue::requests::finish(it.delivery, fail("no", AT_ONCE))
        };
        client.send(held.iter().map(failed).collect()).await;
    }
    client.push_all(&["a", "b"]).await;
    assert_eq!(client.counts().await, [2, 0, 0, 150]);
    let purge = || Request::Purge(Purge::Dead);
    assert_eq!(client.one(purge()).await, Reply::Purged { removed: 128, more: true });
    assert_eq!(client.one(purge()).await, Reply::Purged { removed: 22, more: false });
    assert_eq!(client.counts().await, [2, 0, 0, 0]);
}
