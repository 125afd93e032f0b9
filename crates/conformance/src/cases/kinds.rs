use seinpaal_proto::{Acquire, Kind, LimitRule, OnMismatch, Reply, Ticket};

use crate::{
    CaseStage,
    requests::{TTL, limit, release_slots, want},
    stage::tickets,
};

fn of(kind: Kind, want: Acquire) -> Acquire {
    let rule = |limit| LimitRule { limit, on_mismatch: OnMismatch::Refuse };
    Acquire { kind, limit: kind.limit().map(rule), ..want }
}

fn reader(ticket: Ticket) -> Acquire {
    of(Kind::RwLock, want(ticket))
}

fn writer(ticket: Ticket) -> Acquire {
    of(Kind::RwLock, Acquire { permits: Kind::writer(), ..want(ticket) })
}

pub async fn a_name_is_one_kind_of_lock_at_a_time(stage: &CaseStage) {
    let client = stage.client().await;
    for stored in Kind::ALL {
        let [a, b] = tickets();
        client.take(&of(stored, want(a))).await;
        for stated in Kind::ALL.into_iter().filter(|stated| *stated != stored) {
            let refused = Reply::OtherKind { ticket: Some(b), stored, stated };
            assert_eq!(client.acquire(&of(stated, want(b))).await, refused);
        }
        let snapshot = client.snapshot().await;
        assert_eq!((snapshot.kind, snapshot.holders_total), (Some(stored), 1));
        client.release(a).await;
        stage.pass(TTL * 2, &client).await;
    }
}

pub async fn a_name_that_was_used_up_can_become_another_kind(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&of(Kind::Mutex, want(a))).await;
    client.release(a).await;
    stage.pass(TTL * 2, &client).await;
    client.take(&of(Kind::Semaphore, want(b))).await;
}

pub async fn the_limit_of_a_mutex_cannot_be_changed(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.take(&of(Kind::Mutex, want(a))).await;
    let (stored, stated) = (Kind::Mutex, Kind::Semaphore);
    assert_eq!(client.one(limit(2)).await, Reply::OtherKind { ticket: None, stored, stated });
    assert_eq!(client.snapshot().await.limit, 1);
}

pub async fn a_name_whose_limit_was_set_on_purpose_is_a_semaphore(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.one(limit(1)).await;
    let (stored, stated) = (Kind::Semaphore, Kind::Mutex);
    let refused = Reply::OtherKind { ticket: Some(a), stored, stated };
    assert_eq!(client.acquire(&of(Kind::Mutex, want(a))).await, refused);
}

pub async fn readers_share_and_a_writer_excludes(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c] = tickets();
    client.take(&reader(a)).await;
    client.take(&reader(b)).await;
    client.queue(&writer(c)).await;
    client.release(a).await;
    assert_eq!(client.holders().await, [b]);
    client.release(b).await;
    assert_eq!(client.holders().await, [c]);
}

pub async fn readers_that_come_after_a_waiting_writer_wait_for_it(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c, d] = tickets();
    client.take(&reader(a)).await;
    client.queue(&writer(b)).await;
    client.queue(&reader(c)).await;
    client.queue(&reader(d)).await;
    client.release(a).await;
    assert_eq!(client.holders().await, [b]);
    client.release(b).await;
    assert_eq!(client.holders().await, [c, d]);
}

pub async fn a_writer_that_becomes_a_reader_lets_readers_in_and_no_writer(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c] = tickets();
    client.take(&writer(a)).await;
    client.queue(&reader(b)).await;
    client.queue(&writer(c)).await;
    let left = client.one(release_slots(a, "1-999999")).await;
    assert_eq!(left, Reply::Released { ticket: a, left: 1 });
    assert_eq!(client.holders().await, [a, b]);
    assert_eq!(client.waiters().await, [c]);
}

pub async fn a_writer_gets_all_permits_in_one_piece_whatever_readers_left(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c, d] = tickets();
    for ticket in [a, b, c] {
        client.take(&reader(ticket)).await;
    }
    client.queue(&writer(d)).await;
    for ticket in [b, a, c] {
        client.release(ticket).await;
    }
    assert_eq!(client.snapshot().await.holders[0].slots.to_string(), "0-999999");
}
