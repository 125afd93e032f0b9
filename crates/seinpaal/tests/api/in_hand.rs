//! Requests of a holder about its permit, and of other clients about it.

use std::time::Duration;

use seinpaal::{PermitState, ReleaseError};

use super::{Result, connect, is_left_empty};

pub(super) async fn a_permit_splits_and_merges_and_goes_back_in_parts(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("parts").limit(5);
    let mut permit = semaphore.acquire().permits(5).await?;
    assert!(permit.split(0).is_none() && permit.split(5).is_none());
    let mut two = permit.split(2).ok_or("two of five")?;
    assert_eq!((two.slots().to_string(), permit.slots().to_string()), ("0-1".into(), "2-4".into()));
    permit.release().await?;
    let three = semaphore.acquire().permits(3).await?;
    two.merge(three);
    assert_eq!(two.permits(), 5);
    assert!(semaphore.try_acquire().await?.is_none());
    drop(two);
    is_left_empty(&semaphore).await;
    Ok(())
}

pub(super) async fn an_evicted_holder_learns_of_it_and_its_work_is_dropped(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("evicted");
    let permit = semaphore.acquire().await?;
    let evicting = semaphore.evict(permit.ticket());
    let (evicted, worked) = tokio::join!(evicting, permit.while_held(std::future::pending::<()>()));
    evicted?;
    assert!(worked.is_err() && !permit.is_held());
    assert!(matches!(permit.state(), PermitState::Lost(_)));
    assert_eq!(permit.release().await, Err(ReleaseError::NotHeld));
    Ok(())
}

pub(super) async fn a_detached_ticket_outlives_its_connection_and_can_be_attached_to(
    url: &str,
) -> Result {
    let first = connect(url).await;
    let permit = first.semaphore("handed over").limit(2).acquire().permits(2).await?;
    let (fence, detached) = (permit.fence(), permit.detach().await?);
    drop(first);
    let semaphore = connect(url).await.semaphore("handed over");
    assert!(semaphore.try_acquire().await?.is_none());
    assert!(semaphore.renew_ticket(detached.ticket, Duration::from_secs(5)).await?.is_some());
    let permit = semaphore.attach(detached.ticket).await?;
    assert!(permit.fence() > fence && permit.permits() == 2);
    permit.release().await?;
    assert!(semaphore.release_ticket(detached.ticket).await.is_err());
    is_left_empty(&semaphore).await;
    Ok(())
}

pub(super) async fn a_permit_is_renewed_while_it_is_held(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("renewed");
    let ttl = Duration::from_secs(1);
    let permit = semaphore.acquire().ttl(ttl).await?;
    let beginning = std::time::Instant::now();
    while beginning.elapsed() < ttl + ttl / 4 {
        permit.changed().await; // a renewal, or on a busy machine danger and then a renewal
        assert!(permit.is_held());
    }
    assert!(semaphore.try_acquire().await?.is_none());
    Ok(())
}
