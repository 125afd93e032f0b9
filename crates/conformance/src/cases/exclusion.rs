use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use futures_util::future::join_all;
use seinpaal_proto::{Busy, Name, Reply, Request};

use crate::{
    CaseStage, InboxClient,
    client::granted,
    requests::{acquire, limit, permits, release, want, want_now},
    stage::tickets,
};

pub async fn no_more_than_the_limit_hold(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b, c] = tickets();
    client.take(&want(a)).await;
    client.take(&want(b)).await;
    client.queue(&want(c)).await;
    assert_eq!(client.holders().await, [a, b]);
}

pub async fn a_permit_that_was_given_back_can_be_had_again(stage: &CaseStage) {
    let (one, other) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    one.take(&want_now(a)).await;
    let busy = other.acquire(&want_now(b)).await;
    assert!(matches!(busy, Reply::Busy { why: Busy::Full, held: 1, limit: 1, .. }), "{busy:?}");
    one.release(a).await;
    other.take(&want_now(b)).await;
}

pub async fn the_permits_of_a_request_are_had_all_or_none(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b] = tickets();
    client.take(&permits(a, 2)).await;
    client.queue(&permits(b, 2)).await;
    assert_eq!(client.snapshot().await.held, 2);
    client.release(a).await;
    assert_eq!(client.snapshot().await.held, 2);
}

pub async fn names_do_not_share_permits_whatever_is_in_them(stage: &CaseStage) {
    let client = stage.client().await;
    let own = stage.name();
    let odd =
        ["", "{", "}", "{}", "{a}b", " ", "/", "'\"", ":*?[x]", "\\", "%", "号", "🚦", "\u{a0}"];
    for suffix in odd {
        let name = Name::new(&format!("{own}{suffix}")).unwrap();
        let [ticket] = tickets();
        let batch =
            seinpaal_proto::Batch { name, ..client.batch(vec![acquire(&want_now(ticket))]) };
        granted(client.call(&batch).await.replies.remove(0));
    }
}

pub async fn the_longest_name_is_as_good_as_any(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    let name = format!("{}{}", stage.name(), "é".repeat(300));
    let name = Name::new(
        &name
            .chars()
            .scan(0, |n, c| {
                *n += c.len_utf8();
                (*n <= seinpaal_proto::MAX_NAME_BYTES).then_some(c)
            })
            .collect::<String>(),
    )
    .unwrap();
    let to = |request: Request| seinpaal_proto::Batch {
        name: name.clone(),
        ..client.batch(vec![request])
    };
    granted(client.call(&to(acquire(&want_now(a)))).await.replies.remove(0));
    let busy = client.call(&to(acquire(&want_now(b)))).await.replies.remove(0);
    assert!(matches!(busy, Reply::Busy { .. }), "{busy:?}");
}

pub async fn of_clients_that_race_for_one_permit_one_has_it(stage: &CaseStage) {
    let clients = join_all((0..16).map(|_| stage.client())).await;
    let replies = join_all(clients.iter().map(async |client| {
        let [ticket] = tickets();
        client.acquire(&want_now(ticket)).await
    }));
    let granted = |reply: &&Reply| matches!(reply, Reply::Granted(_));
    assert_eq!(replies.await.iter().filter(granted).count(), 1);
}

pub async fn clients_that_come_and_go_never_hold_more_than_the_limit(stage: &CaseStage) {
    let first = stage.limited(3).await;
    let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
    let visit = async |mut client: InboxClient| {
        for _ in 0..12 {
            let [ticket] = tickets();
            if let Reply::Queued { .. } = client.acquire(&want(ticket)).await {
                client.told_of_grant(ticket).await;
            }
            most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
            client.settle().await;
            // Others come in meanwhile, also where nothing is awaited.
            tokio::task::yield_now().await;
            inside.fetch_sub(1, SeqCst);
            client.release(ticket).await;
        }
    };
    let clients = join_all((0..8).map(|_| stage.client())).await;
    join_all(clients.into_iter().map(visit)).await;
    assert!(most.load(SeqCst) <= 3, "{most:?} were inside together");
    assert_eq!(first.snapshot().await.held, 0);
}

pub async fn what_a_batch_frees_its_later_requests_can_take(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    let replies = client
        .send(vec![acquire(&want(a)), release(a), acquire(&want_now(b)), limit(1)])
        .await
        .replies;
    assert!(granted(replies[2].clone()).fence > granted(replies[0].clone()).fence);
    assert_eq!(replies[1..2], [Reply::Released { ticket: a, left: 0 }]);
    assert_eq!(replies[3], Reply::Configured { limit: 1 });
}
