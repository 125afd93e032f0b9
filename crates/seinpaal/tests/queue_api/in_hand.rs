//! Items in hand, and their ends.

use std::time::Duration;

use seinpaal::{Failed, FinishError, ItemState, QueueError};

use super::{Result, connect, is_left_empty, queue};

pub(super) async fn an_item_that_fails_comes_again_and_dies_after_its_last_delivery(
    url: &str,
) -> Result {
    let queue = queue(url, "failing").await;
    let id = queue.push("x").deliveries(2).await?.id;
    assert_eq!(queue.pop().await?.fail("one", Duration::ZERO).await?, Failed::Returned);
    assert_eq!(queue.pop().await?.fail("two", Duration::ZERO).await?, Failed::Died);
    let dead = queue.dead(None, 10).await?;
    assert_eq!((dead.len(), dead[0].id, dead[0].history.ends().len()), (1, id, 2));
    assert_eq!(dead[0].payload, b"x");
    queue.replay(id).await?;
    assert!(matches!(queue.drop_dead(id).await, Err(QueueError::NoSuchItem(_))));
    let item = queue.pop().await?;
    assert_eq!((item.id(), item.attempt()), (id, 1));
    drop(item);
    assert_eq!(queue.pop().await?.fail("four", Duration::ZERO).await?, Failed::Died);
    queue.drop_dead(id).await?;
    assert!(queue.dead(None, 10).await?.is_empty());
    is_left_empty(&queue).await;
    Ok(())
}

pub(super) async fn an_item_that_is_dropped_has_failed_and_one_given_back_has_not(
    url: &str,
) -> Result {
    let queue = queue(url, "dropping").await;
    queue.push("x").await?;
    queue.pop().await?.give_back(Duration::ZERO).await?;
    let item = queue.pop().await?;
    assert_eq!(item.attempt(), 1);
    drop(item);
    let item = queue.pop().await?;
    assert_eq!(item.attempt(), 2);
    item.acknowledge().await?;
    Ok(())
}

pub(super) async fn a_cancelled_item_is_lost_by_its_worker_at_once(url: &str) -> Result {
    let queue = queue(url, "cancelled").await;
    let id = queue.push("x").await?.id;
    let item = queue.pop().await?;
    let (was, worked) =
        tokio::join!(queue.cancel(id), item.while_held(std::future::pending::<()>()));
    assert_eq!(was?, ItemState::InWork);
    assert!(worked.is_err() && !item.is_held());
    item.danger().await;
    assert_eq!(item.acknowledge().await, Err(FinishError::Lost));
    assert!(matches!(queue.cancel(id).await, Err(QueueError::NoSuchItem(_))));
    Ok(())
}

pub(super) async fn an_item_is_renewed_while_it_is_in_hand(url: &str) -> Result {
    let queue = queue(url, "renewed").await;
    queue.push("x").await?;
    let ttl = Duration::from_millis(400);
    let item = queue.pop().ttl(ttl).await?;
    let start = std::time::Instant::now();
    while start.elapsed() < 3 * ttl {
        let seen = queue.snapshot().await?;
        assert!(item.is_held() && seen.in_work == 1, "{item:?} {seen:?}");
        tokio::task::yield_now().await;
    }
    item.acknowledge().await?;
    Ok(())
}

pub(super) async fn items_of_a_closed_connection_go_back(url: &str) -> Result {
    let (here, there) = (connect(url).await, connect(url).await);
    here.queue("closed").push("x").await?;
    let item = here.queue("closed").pop().await?;
    here.close().await?;
    assert!(!item.is_held());
    let again = there.queue("closed").pop().await?;
    assert_eq!((again.id(), again.attempt()), (item.id(), 1));
    again.acknowledge().await?;
    Ok(())
}
