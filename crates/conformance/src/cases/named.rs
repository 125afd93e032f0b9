use seinpaal_proto::{Acquire, Configure, Grant, Permits, Reply, Request, Ticket};

use crate::{
    CaseStage,
    requests::{limit, permits, release_slots, want, want_now},
    stage::tickets,
};

const THREE: &str = "GPU-0,GPU-1,board b";

fn naming(names: &str) -> Request {
    Request::Configure(Configure::Slots(names.parse().unwrap()))
}

fn wishing(ticket: Ticket, names: &str) -> Acquire {
    let wishes: seinpaal_proto::SlotNames = names.parse().unwrap();
    let permits = Permits::new(wishes.count()).unwrap();
    Acquire { wishes, permits, ..want(ticket) }
}

fn names(grant: &Grant) -> String {
    grant.names.to_string()
}

pub async fn a_holder_is_told_the_names_of_its_slots(stage: &CaseStage) {
    let (client, mut next) = (stage.client().await, stage.client().await);
    let [a, b, c] = tickets();
    assert_eq!(client.one(naming(THREE)).await, Reply::Configured { limit: 3 });
    assert_eq!(names(&client.take(&permits(a, 2)).await), "GPU-0,GPU-1");
    assert_eq!(names(&client.take(&wishing(b, "board b")).await), "board b");
    next.queue(&want(c)).await;
    client.one(release_slots(a, "1")).await;
    next.told_of_grant(c).await;
    assert_eq!(names(&next.take(&want(c)).await), "GPU-1");
    assert_eq!(client.snapshot().await.slot_names.to_string(), THREE);
}

pub async fn a_request_waits_for_the_slot_it_names_and_holds_up_nobody_else(stage: &CaseStage) {
    let (client, mut next) = (stage.client().await, stage.client().await);
    let [a, b, c, d] = tickets();
    client.one(naming(THREE)).await;
    client.take(&wishing(a, "board b")).await;
    next.queue(&wishing(b, "board b")).await;
    let rows = client.snapshot().await.waiters;
    assert_eq!(rows.first().map(|row| row.wishes.to_string()), Some("2".to_owned()));
    assert_eq!(names(&client.take(&want(c)).await), "GPU-0");
    assert_eq!(names(&client.take(&want(d)).await), "GPU-1");
    client.release(a).await;
    next.told_of_grant(b).await;
    assert_eq!(names(&next.take(&wishing(b, "board b")).await), "board b");
}

pub async fn a_slot_that_somebody_waits_for_goes_to_nobody_later(stage: &CaseStage) {
    let (client, mut next) = (stage.client().await, stage.client().await);
    let [a, b, c, d] = tickets();
    client.one(naming(THREE)).await;
    client.take(&permits(a, 3)).await;
    next.queue(&wishing(b, "GPU-0,board b")).await;
    client.one(release_slots(a, "0")).await;
    assert!(matches!(client.acquire(&want_now(c)).await, Reply::Busy { held: 2, .. }));
    client.one(release_slots(a, "1")).await;
    assert_eq!(names(&client.take(&want_now(d)).await), "GPU-1");
    client.one(release_slots(a, "2")).await;
    next.told_of_grant(b).await;
}

pub async fn a_wish_for_a_name_that_no_slot_has_is_refused(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b] = tickets();
    let reply = client.acquire(&wishing(a, "0")).await;
    assert!(matches!(reply, Reply::NoSuchSlot { there, .. } if there.is_empty()));
    client.one(naming(THREE)).await;
    let reply = client.acquire(&wishing(b, "GPU-9")).await;
    assert!(matches!(reply, Reply::NoSuchSlot { there, .. } if there.to_string() == THREE));
    assert!(client.holders().await.is_empty());
}

pub async fn names_are_only_added_at_the_end_while_somebody_goes_by_them(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.one(naming("a,b")).await;
    client.take(&permits(a, 2)).await;
    for change in [naming("b,a"), naming("a"), limit(2), Request::Configure(Configure::Unpin)] {
        let reply = client.one(change).await;
        assert!(matches!(reply, Reply::SlotsInUse { names } if names.to_string() == "a,b"));
    }
    assert_eq!(client.one(naming("a,b,c")).await, Reply::Configured { limit: 3 });
    assert_eq!(names(&client.take(&want(b)).await), "c");
    client.release(a).await;
    client.release(b).await;
    assert_eq!(client.one(naming("b,a")).await, Reply::Configured { limit: 2 });
    client.one(limit(4)).await;
    assert!(client.snapshot().await.slot_names.is_empty());
}
