//! The store does every request once, whatever is lost and repeated.

use futures_util::{FutureExt, pin_mut};
use seinpaal_proto::{
    Name,
    queue::{Batch, Purge, Reply, Request},
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        client::popped,
        requests::{
            AT_ONCE, HOUR, SECOND, acknowledge, allowed, fail, finish, give_back, group_limit,
            item, keyed, limit, of_group, pause, pop, renew, resume, waiting,
        },
    },
    requests::TTL,
};

/// A request of each kind that changes something, about items of [`busy`].
async fn requests(client: &QueueClient<'_>) -> Vec<Request> {
    let dead = client.dead().await;
    let held: Vec<_> = client.pop(4).await.iter().map(|it| it.delivery).collect();
    let id = client.push(item("to cancel")).await;
    vec![
        Request::Push(item("new")),
        Request::Push(keyed("k", HOUR)),
        Request::Push(keyed("k", HOUR)),
        renew(&held),
        acknowledge(held[0]),
        finish(held[1], give_back(AT_ONCE)),
        finish(held[2], fail("no", SECOND)),
        finish(held[3], fail("no", AT_ONCE)),
        Request::Cancel { id, spares_work: false },
        Request::Replay { id: dead[0].id },
        Request::Drop { id: dead[1].id },
        Request::Pop(pop(2)),
        Request::Pop(waiting(60)),
        Request::Leave,
        limit(9),
        group_limit(1),
        pause("repairs"),
        resume(),
        Request::Purge(Purge::Waiting),
        Request::Purge(Purge::Dead),
    ]
}

/// A queue with items of every kind.
async fn busy(stage: &CaseStage) -> QueueClient<'_> {
    let client = stage.queue_client().await;
    for _ in 0..2 {
        client.push(allowed("dead", 1)).await;
        let held = client.take().await;
        client.finish(held.delivery, fail("no", AT_ONCE)).await;
    }
    client.push_all(&["a", "b", "c", "d", "e"]).await;
    client
}

pub async fn a_request_that_arrives_again_is_answered_alike_and_done_once(stage: &CaseStage) {
    let client = busy(stage).await;
    let requests = requests(&client).await;
    for request in requests {
        let batch = client.batch(vec![request.clone()]);
        let first = client.call(&batch).await.replies;
        let after = client.look().await;
        for _ in 0..2 {
            assert_eq!(client.call(&batch).await.replies, first, "{request:?}");
        }
        assert_eq!(client.look().await, after, "{request:?}");
    }
}

pub async fn a_pop_that_arrives_again_is_given_the_same_deliveries(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("{\0}号")).await;
    client.push(of_group("g", "b")).await;
    client.push(item("c")).await;
    let [first, second] = client.twice(Request::Pop(pop(2))).await;
    assert_eq!(first, second);
    assert_eq!(popped(second)[0].payload, "{\0}号".as_bytes());
    assert_eq!(client.counts().await, [1, 0, 2, 0]);
}

pub async fn a_pop_that_arrives_again_leaves_out_ended_deliveries(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let ids = client.push_all(&["a", "b"]).await;
    let batch = client.batch(vec![Request::Pop(pop(2))]);
    client.call(&batch).await;
    stage.queue_client().await.one(Request::Cancel { id: ids[0], spares_work: false }).await;
    let again = popped(client.call(&batch).await.replies.remove(0));
    assert_eq!(again.iter().map(|it| it.delivery.id).collect::<Vec<_>>(), ids[1..]);
}

pub async fn what_reads_is_read_anew_when_it_arrives_again(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let batch = client.batch(vec![Request::Push(item("a")), Request::Inspect { rows: 0 }]);
    client.call(&batch).await;
    stage.queue_client().await.push(item("b")).await;
    let Reply::Snapshot(seen) = client.call(&batch).await.replies.remove(1) else {
        panic!("not a snapshot")
    };
    assert_eq!(seen.ready, 2);
}

pub async fn an_earlier_batch_that_arrives_late_does_nothing(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let early = client.batch(vec![Request::Push(item("a")), Request::Inspect { rows: 0 }]);
    client.push(item("b")).await;
    assert_eq!(client.call(&early).await.replies, [Reply::Late, Reply::Late]);
    assert_eq!(client.texts(9).await, ["b"]);
}

pub async fn a_batch_that_arrives_after_its_deadline_does_nothing(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let batch = client.batch(vec![Request::Push(item("a"))]);
    let in_time = client.batch(vec![Request::Push(item("b"))]);
    stage.advance(TTL);
    client.call(&in_time).await;
    stage.advance(std::time::Duration::from_micros(1));
    let late = Batch { number: in_time.number + 1, ..batch };
    assert_eq!(client.call(&late).await.replies, [Reply::Late]);
    assert_eq!(client.texts(9).await, ["b"]);
}

pub async fn a_batch_is_not_done_again_after_its_session_was_forgotten(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let batch = client.batch(vec![Request::Push(item("a"))]);
    client.call(&batch).await;
    client.acknowledge(client.take().await.delivery).await;
    stage.advance(HOUR);
    client.settle().await;
    assert_eq!(client.call(&batch).await.replies, [Reply::Late]);
    assert_eq!(client.counts().await, [0; 4]);
}

pub async fn sessions_have_numbers_of_their_own(stage: &CaseStage) {
    let (one, other) = (stage.queue_client().await, stage.queue_client().await);
    for text in ["a", "b"] {
        assert_eq!(one.batch(vec![]).number, other.batch(vec![]).number);
        one.push(item(text)).await;
        other.push(item(text)).await;
    }
    assert_eq!(one.texts(9).await, ["a", "a", "b", "b"]);
}

pub async fn a_session_has_numbers_of_its_own_at_each_queue(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let here = client.batch(vec![Request::Push(item("a"))]);
    let name = Name::new(&format!("{} elsewhere", stage.name())).unwrap();
    for batch in [&Batch { name, number: 1_000, ..here.clone() }, &here] {
        let replies = client.call(batch).await.replies;
        assert!(matches!(replies[0], Reply::Pushed { .. }), "{replies:?}");
    }
}

pub async fn a_batch_has_up_to_sixty_four_requests(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let ids = client.push_all(&["x"; 64]).await;
    let held = popped(client.one(Request::Pop(pop(64))).await);
    let batch = client.batch(held.iter().map(|it| acknowledge(it.delivery)).collect());
    let done: Vec<_> = ids.iter().map(|id| Reply::Acknowledged { id: *id }).collect();
    assert_eq!(client.call(&batch).await.replies, done);
    assert_eq!(client.call(&batch).await.replies, done);
}

pub async fn a_call_that_is_dropped_half_way_can_be_made_again(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let batch = client.batch(vec![Request::Push(item("a")), Request::Pop(pop(1))]);
    // Dropped after each number of polls, so at each place where a call can wait.
    for polls in 0..6 {
        let call = client.store().call_queue(&batch);
        pin_mut!(call);
        for _ in 0..polls {
            if call.as_mut().now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let held = popped(client.call(&batch).await.replies.remove(1));
    assert_eq!((held.len(), client.counts().await), (1, [0, 0, 1, 0]));
}
