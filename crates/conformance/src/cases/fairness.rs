use std::time::Duration;

use seinpaal_proto::{Acquire, Batch, Reply, Ticket, time::UNBOUNDED};

use crate::{
    CaseStage,
    requests::{TTL_MICROS, acquire, limit, permits, ranked, want, want_now},
    stage::{source_of, tickets},
};

pub async fn waiters_are_served_in_the_order_of_their_requests(stage: &CaseStage) {
    let (holder, mut waiter) = (stage.client().await, stage.client().await);
    let line: [Ticket; 6] = tickets();
    holder.take(&want(line[0])).await;
    for ticket in &line[1..] {
        waiter.queue(&want(*ticket)).await;
    }
    holder.release(line[0]).await;
    for ticket in &line[1..] {
        waiter.told_of_grant(*ticket).await;
        waiter.release(*ticket).await;
    }
}

pub async fn a_newcomer_does_not_pass_a_waiter(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b, c] = tickets();
    client.take(&permits(a, 2)).await;
    client.queue(&permits(b, 3)).await;
    let reply = client.acquire(&want_now(c)).await;
    assert!(matches!(reply, Reply::Busy { held: 2, waiting: 1, .. }), "{reply:?}");
}

pub async fn a_large_request_at_the_head_is_not_passed_by_small_ones(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b, c, d] = tickets();
    client.take(&want(a)).await;
    client.queue(&permits(b, 3)).await;
    client.queue(&want(c)).await;
    client.queue(&want(d)).await;
    assert_eq!(client.holders().await, [a]);
    client.release(a).await;
    assert_eq!(client.holders().await, [b]);
    client.release(b).await;
    assert_eq!(client.holders().await, [c, d]);
}

pub async fn higher_priority_comes_first(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, low, middle, high] = tickets();
    client.take(&want(a)).await;
    client.queue(&ranked(low, -100)).await;
    client.queue(&ranked(middle, 0)).await;
    client.queue(&ranked(high, 100)).await;
    assert_eq!(client.waiters().await, [high, middle, low]);
}

pub async fn a_long_wait_is_not_passed_by_higher_priority(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, old, young] = tickets();
    let patient = |ticket, priority| Acquire {
        ttl: 4 * TTL_MICROS,
        waiter_ttl: 4 * TTL_MICROS,
        margin: UNBOUNDED,
        ..ranked(ticket, priority)
    };
    client.take(&patient(a, 0)).await;
    client.queue(&patient(old, 0)).await;
    stage.pass(Duration::from_secs(11), &client).await;
    client.queue(&patient(young, 1)).await;
    assert_eq!(client.waiters().await, [old, young]);
}

pub async fn ten_thousand_waiters_at_one_name_are_served_in_order(stage: &CaseStage) {
    const MANY: usize = 10_000;
    let client = stage.limited(0).await;
    let mut source = source_of(client.inbox());
    // As a session draws them: as many of a series as a lease may have.
    let series = std::iter::repeat_with(|| source.ticket().series());
    let members = 1..=Batch::MOST_UNDER_A_LEASE as u32;
    let tickets = series.flat_map(|series| members.clone().map(move |n| series.ticket(n)));
    let line: Vec<Ticket> = tickets.take(MANY).collect();
    for some in line.chunks(Batch::MOST) {
        client.send(some.iter().map(|ticket| acquire(&want(*ticket))).collect()).await;
    }
    assert_eq!(client.snapshot().await.waiting_total, MANY as u32);
    client.one(limit(MANY as u32)).await;
    client.settle().await;
    let seen = client.snapshot().await;
    assert_eq!((seen.held, seen.waiting_total), (MANY as u32, 0));
    assert!(seen.holders.iter().map(|row| row.ticket).eq(line));
    assert!(seen.holders.windows(2).all(|two| two[0].fence < two[1].fence));
}
