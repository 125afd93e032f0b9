use std::time::Duration;

use seinpaal_proto::{About, Acquire, Name, RecentHolds, Reply, Request};

use crate::{
    CaseStage,
    requests::{acquire, evict, lasting, limit, pause, permits, release, want, want_now},
    stage::{random, tickets},
};

pub async fn a_snapshot_agrees_with_what_was_granted(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b] = tickets();
    let grant = client.take_anonymously(&Acquire { ttl: 30_000_000, ..permits(a, 2) }).await;
    client.queue(&permits(b, 2)).await;
    stage.advance(Duration::from_secs(1));
    let seen = client.snapshot().await;
    let (holder, waiter) = (&seen.holders[0], &seen.waiters[0]);
    assert_eq!((seen.limit, seen.pinned, seen.paused), (3, Some(3), None));
    assert_eq!((seen.held, seen.holders_total, seen.waiting_total), (2, 1, 1));
    assert_eq!((holder.ticket, holder.fence, &holder.slots), (a, grant.fence, &grant.slots));
    assert_eq!((holder.held_for, holder.valid_for), (1_000_000, Some(29_000_000)));
    assert_eq!((waiter.ticket, waiter.permits, waiter.waiting_for), (b, 2, 1_000_000));
    assert_eq!((waiter.priority, waiter.unreachable), (0, false));
}

pub async fn a_snapshot_tells_how_long_the_last_holds_took_that_were_given_back(stage: &CaseStage) {
    let client = stage.limited(2).await;
    assert_eq!(client.snapshot().await.recent, RecentHolds::NONE);
    let all = tickets::<4>();
    let seconds = Duration::from_secs;
    for (ticket, took) in all[..2].iter().zip([4, 1]) {
        client.take(&lasting(*ticket, seconds(30))).await;
        stage.advance(seconds(took));
        client.one(release(*ticket)).await;
    }
    client.take(&lasting(all[2], seconds(30))).await;
    client.take(&lasting(all[3], seconds(30))).await;
    client.one(evict(all[3])).await;
    stage.advance(seconds(2));
    client.one(release(all[2])).await;
    let kept: Vec<_> = client.snapshot().await.recent.lengths().collect();
    assert_eq!(kept.len(), 3, "an eviction tells nothing: {kept:?}");
    for (kept, took) in kept.into_iter().zip([2_000_000_u64, 1_000_000, 4_000_000]) {
        assert!(kept.abs_diff(took) * 5 <= took, "{kept} of {took}, the newest first");
    }
}

pub async fn a_snapshot_never_shows_what_has_run_out(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.take_anonymously(&lasting(a, Duration::from_secs(1))).await;
    stage.advance(Duration::from_secs(1));
    assert_eq!(client.snapshot().await.held, 0);
}

pub async fn a_snapshot_lists_as_many_as_asked_for_and_counts_all(stage: &CaseStage) {
    let client = stage.limited(5).await;
    let all = tickets::<9>();
    client.send(all.iter().map(|ticket| acquire(&want(*ticket))).collect()).await;
    let Reply::Snapshot(seen) = client.one(Request::Inspect { rows: 2 }).await else { panic!() };
    // Which holders these are is nowhere said.
    assert!(seen.holders.len() == 2 && seen.holders[0].fence < seen.holders[1].fence);
    assert!(seen.holders.iter().all(|row| all[..5].contains(&row.ticket)));
    assert!(seen.waiters.iter().map(|row| row.ticket).eq(all[5..7].iter().copied()));
    assert_eq!((seen.holders_total, seen.waiting_total), (5, 4));
}

pub async fn what_a_client_says_of_itself_comes_back_as_it_was(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    let odd = [("k", ""), ("", "v"), ("号", "\"'\\{}:;,%|"), ("new\u{a0}line", "🚦")];
    let labels = odd.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let about = About::new("x 1.0", "häst", 7).with_labels(labels);
    client.take(&Acquire { about: about.encode(), ..want(a) }).await;
    client.queue(&Acquire { about: about.encode(), ..want(b) }).await;
    let seen = client.snapshot().await;
    assert_eq!(About::decode(&seen.holders[0].about), about);
    assert_eq!(About::decode(&seen.waiters[0].about), about);
}

pub async fn looking_at_a_name_does_not_make_it(stage: &CaseStage) {
    let client = stage.client().await;
    let seen = client.snapshot().await;
    assert_eq!((seen.limit, seen.held, seen.holders_total), (1, 0, 0));
    assert_eq!(client.store().list(stage.name()).await.unwrap(), []);
}

pub async fn the_list_has_every_name_in_use_that_begins_so(stage: &CaseStage) {
    let client = stage.client().await;
    let prefix = format!("list*[{:x}]", random());
    let name = |suffix: &str| Name::new(&format!("{prefix}{suffix}")).unwrap();
    for (suffix, request) in
        [("/b", acquire(&want_now(tickets::<1>()[0]))), ("/a", limit(2)), ("{c}", pause("repairs"))]
    {
        let batch = seinpaal_proto::Batch { name: name(suffix), ..client.batch(vec![request]) };
        client.call(&batch).await;
    }
    let listed = client.store().list(&prefix).await.unwrap();
    let names: Vec<_> = listed.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["/a", "/b", "{c}"].map(name));
    assert_eq!((listed[0].1.limit, listed[1].1.held), (2, 1));
    assert_eq!(listed[1].1.holders, []);
    assert_eq!(listed[2].1.paused.as_deref(), Some("repairs"));
}

pub async fn a_listed_name_shows_its_first_waiters_and_counts_all(stage: &CaseStage) {
    let client = stage.limited(0).await;
    let all = tickets::<70>();
    for some in all.chunks(35) {
        client.send(some.iter().map(|ticket| acquire(&want(*ticket))).collect()).await;
    }
    let listed = client.store().list(stage.name()).await.unwrap();
    let seen = &listed[0].1;
    assert_eq!(seen.waiting_total, 70);
    assert!(seen.waiters.iter().map(|row| row.ticket).eq(all[..64].iter().copied()));
}
