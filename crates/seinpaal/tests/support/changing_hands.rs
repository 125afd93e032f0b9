//! Tickets that change hands, on every store.

use std::time::Duration;

use seinpaal::{AdminError, Ended, Lost, Permit, PermitState, ReleaseError};
use tokio::time::timeout;

use super::{Result, connect, is_left_empty};

/// How long a test waits for an event that must come. No verdict depends on its length.
const BOUND: Duration = Duration::from_secs(30);

async fn how_lost(permit: &Permit) -> Lost {
    timeout(BOUND, permit.lost()).await.expect("its holder is told")
}

pub(super) async fn a_holder_that_is_attached_to_is_told_and_can_free_nothing(url: &str) -> Result {
    let (first, second) = (connect(url).await, connect(url).await);
    let (before, after) = (first.semaphore("taken"), second.semaphore("taken"));
    let p = before.acquire().await?;
    let q = after.attach(p.ticket()).await?;
    assert_eq!(how_lost(&p).await, Lost::Ended(Ended::Attached));
    assert!(!p.is_held() && q.is_held() && q.fence() > p.fence());
    assert_eq!((q.slots(), q.limit()), (p.slots(), 1));
    drop(p);
    // The messages of the drop have been answered when this one has.
    before.snapshot().await?;
    assert!(before.try_acquire().await?.is_none(), "the permit is q's");
    q.release().await?;
    is_left_empty(&after).await;
    Ok(())
}

pub(super) async fn a_client_that_attaches_to_its_own_ticket_has_one_permit(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("its own");
    let p = semaphore.acquire().await?;
    let q = semaphore.attach(p.ticket()).await?;
    assert_eq!(p.state(), PermitState::Lost(Lost::Ended(Ended::Attached)));
    assert!(q.is_held() && q.fence() > p.fence());
    assert_eq!(p.release().await, Err(ReleaseError::NotHeld));
    assert!(q.is_held() && semaphore.try_acquire().await?.is_none());
    q.release().await?;
    is_left_empty(&semaphore).await;
    Ok(())
}

pub(super) async fn of_two_that_attach_to_a_detached_ticket_one_has_it(url: &str) -> Result {
    let (first, second) = (connect(url).await, connect(url).await);
    let semaphore = first.semaphore("for both");
    let ticket = semaphore.acquire().await?.detach().await?.ticket;
    let p = semaphore.attach(ticket).await?;
    let q = second.semaphore("for both").attach(ticket).await?;
    assert_eq!(how_lost(&p).await, Lost::Ended(Ended::Attached));
    assert!(q.is_held() && q.fence() > p.fence());
    q.release().await?;
    is_left_empty(&semaphore).await;
    Ok(())
}

pub(super) async fn a_holder_whose_ticket_is_released_by_another_is_told(url: &str) -> Result {
    let (holder, other) = (connect(url).await, connect(url).await);
    let permit = holder.semaphore("given back").acquire().await?;
    let semaphore = other.semaphore("given back");
    assert!(semaphore.renew_ticket(permit.ticket(), Duration::from_secs(1)).await.is_ok());
    assert!(permit.is_held(), "its holder renews it, and nobody else");
    semaphore.release_ticket(permit.ticket()).await?;
    assert_eq!(how_lost(&permit).await, Lost::Ended(Ended::Released));
    let again = semaphore.release_ticket(permit.ticket()).await;
    assert!(matches!(again, Err(AdminError::Ended(Ended::Released))), "{again:?}");
    assert_eq!(permit.release().await, Err(ReleaseError::NotHeld));
    is_left_empty(&semaphore).await;
    Ok(())
}
