//! Items and poppers in line.

use std::{
    future::IntoFuture,
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use seinpaal::{PopError, Push, Queue};

use super::{HOUR, Result, eventually, is_left_empty, queue, text};

pub(super) async fn items_come_in_order_with_their_labels_and_terms(url: &str) -> Result {
    let queue = queue(url, "order").await;
    let before = SystemTime::now() - HOUR;
    queue.push("second").await?;
    let pushed = queue.push("first").priority(7).group("ann").label("k", "v").deliveries(2).await?;
    let (first, second) = (queue.pop().await?, queue.pop().await?);
    assert_eq!((text(&first), text(&second)), ("first".into(), "second".into()));
    assert_eq!((first.id(), first.attempt(), first.deliveries()), (pushed.id, 1, 2));
    assert_eq!((first.group(), first.priority()), (Some("ann"), 7));
    assert_eq!(first.labels(), [("k".to_owned(), "v".to_owned())]);
    assert!(first.pushed_at() > before && second.fence() > first.fence());
    first.acknowledge().await?;
    second.acknowledge().await?;
    is_left_empty(&queue).await;
    Ok(())
}

pub(super) async fn many_are_pushed_and_popped_at_once(url: &str) -> Result {
    let queue = queue(url, "many").await;
    let pushes = (0..200).map(|i| Push::new(i.to_string()).dedup(&(i / 2).to_string(), HOUR));
    let pushed = queue.push_all(pushes).await;
    let pushed = pushed.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
    assert!(pushed.chunks(2).all(|two| two[0].id == two[1].id && two[1].is_duplicate));
    let mut seen = Vec::new();
    while seen.len() < 100 {
        for item in queue.pop_many(64).await? {
            seen.push(text(&item));
            item.acknowledge().await?;
        }
    }
    assert_eq!(seen, (0..100).map(|i| (2 * i).to_string()).collect::<Vec<_>>());
    is_left_empty(&queue).await;
    Ok(())
}

pub(super) async fn a_popper_of_another_connection_is_called_for_an_item(url: &str) -> Result {
    let (here, there) = (queue(url, "called").await, queue(url, "called").await);
    let popping = tokio::spawn(there.pop().into_future());
    eventually(&here, |seen| seen.idle == 1).await;
    here.push("x").await?;
    popping.await??.acknowledge().await?;
    is_left_empty(&here).await;
    Ok(())
}

pub(super) async fn a_delayed_item_comes_when_it_is_due_and_not_before(url: &str) -> Result {
    let queue = queue(url, "delayed").await;
    let delay = Duration::from_millis(300);
    let start = std::time::Instant::now();
    queue.push("later").delay(delay).await?;
    queue.push("past").due(SystemTime::UNIX_EPOCH).await?;
    assert_eq!(text(&queue.pop().await?), "past");
    assert!(queue.try_pop().await?.is_none_or(|item| text(&item) == "past"));
    eventually(&queue, |seen| seen.delayed == 1).await;
    purge_ready(&queue).await?;
    let item = loop {
        let item = queue.pop().await?;
        if text(&item) == "later" {
            break item;
        }
        item.acknowledge().await?;
    };
    assert!(start.elapsed() >= delay);
    item.acknowledge().await?;
    Ok(())
}

/// Acknowledges items that were dropped unfinished before.
async fn purge_ready(queue: &Queue) -> Result {
    while let Some(item) = queue.try_pop().await? {
        item.acknowledge().await?;
    }
    Ok(())
}

/// Long enough for an answer on a busy machine. A shorter wait might end before the store has
/// answered, and so with the store's error.
const LONG_ENOUGH_TO_ANSWER: Duration = Duration::from_secs(1);

pub(super) async fn a_timeout_leaves_the_line(url: &str) -> Result {
    let queue = queue(url, "timeout").await;
    let refused = queue.pop().timeout(LONG_ENOUGH_TO_ANSWER).await;
    assert!(matches!(refused, Err(PopError::TimedOut)));
    assert!(queue.try_pop().await?.is_none());
    is_left_empty(&queue).await;
    Ok(())
}

pub(super) async fn a_pop_dropped_after_any_number_of_polls_leaves_nothing_behind(
    url: &str,
) -> Result {
    let queue = queue(url, "dropped").await;
    queue.push("x").deliveries(1).await?;
    for polls in 0..20 {
        let mut future = pin!(queue.pop().into_future());
        for _ in 0..polls {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(item) = future.as_mut().poll(&mut context) {
                item?.give_back(Duration::ZERO).await?;
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let item = queue.pop().await?;
    assert_eq!(item.attempt(), 1, "no delivery was counted");
    item.acknowledge().await?;
    is_left_empty(&queue).await;
    Ok(())
}
