//! Workers, and the ends of their items and handlers.

use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use seinpaal::{BackOff, FinishError, GiveBack, Push, QueueError};

use super::{Result, eventually, is_left_empty, queue, text};

pub(super) async fn a_worker_works_on_everything_and_says_what_became_of_it(url: &str) -> Result {
    let queue = queue(url, "worked").await;
    let pushes = (0..50).map(|i| Push::new(i.to_string()).deliveries(2));
    queue.push_all(pushes).await;
    let back = AtomicU32::new(0);
    let worker = queue.worker(4, |item| {
        let is_first_back = text(&item) == "7" && back.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            match text(&item).as_str() {
                "3" => panic!("three"),
                "5" => Err("five")?,
                "7" if is_first_back => Err(GiveBack::now())?,
                "9" => item.acknowledge().await?,
                _ => {}
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        }
    });
    let retry = BackOff::constant(Duration::from_millis(10));
    let counts = worker.retry(retry).until_empty().run().await?;
    assert_eq!((counts.acknowledged, counts.given_back), (48, 1));
    assert_eq!((counts.failed, counts.died, counts.lost, counts.unknown), (2, 2, 0, 0));
    let dead = queue.dead(None, 10).await?;
    let reasons: Vec<_> = dead.iter().map(|letter| format!("{:?}", letter.history)).collect();
    assert!(reasons[0].contains("panicked: three") && reasons[1].contains("five"), "{reasons:?}");
    assert_eq!(queue.purge_dead().await?, 2);
    is_left_empty(&queue).await;
    Ok(())
}

/// An error as `anyhow` turns one into a `Box<dyn Error>`: of a type that nobody can name.
#[derive(Debug)]
struct Opaque(Box<dyn Error + Send + Sync>);

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Opaque {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

pub(super) async fn an_item_is_given_back_through_any_error_type(url: &str) -> Result {
    let queue = queue(url, "given back").await;
    queue.push("x").await?;
    let tries = AtomicU32::new(0);
    let worker = queue.worker(1, |_item| {
        let nth = tries.fetch_add(1, Ordering::Relaxed);
        async move {
            let give_back = GiveBack::after(Duration::from_millis(1));
            match nth {
                0 => Err(Box::<dyn Error + Send + Sync>::from(give_back)),
                1 => Err(Box::from(Opaque(Box::new(give_back)))),
                _ => Ok(()),
            }
        }
    });
    let counts = worker.until_empty().run().await?;
    assert_eq!((counts.acknowledged, counts.given_back, counts.failed), (1, 2, 0), "{counts:?}");
    Ok(())
}

pub(super) async fn a_dead_letter_has_the_sources_of_its_error(url: &str) -> Result {
    #[derive(Debug)]
    struct Sending(std::io::Error);

    impl fmt::Display for Sending {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("sending the mail")
        }
    }

    impl Error for Sending {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    let queue = queue(url, "sources").await;
    queue.push("x").deliveries(1).await?;
    let worker = queue.worker(1, |_item| async {
        Err::<(), _>(Sending(std::io::Error::other("connection refused")))
    });
    worker.until_empty().run().await?;
    let dead = queue.dead(None, 10).await?;
    let history = format!("{:?}", dead[0].history);
    assert!(history.contains("sending the mail: connection refused"), "{history}");
    queue.purge_dead().await?;
    Ok(())
}

pub(super) async fn a_worker_never_has_more_in_hand_than_it_may(url: &str) -> Result {
    let queue = queue(url, "concurrency").await;
    queue.push_all((0..40).map(|i| Push::new(i.to_string()))).await;
    let (busy, most) = (AtomicU32::new(0), AtomicU32::new(0));
    let (busy, most) = (&busy, &most);
    let worker = queue.worker(3, |_item| async move {
        most.fetch_max(busy.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        busy.fetch_sub(1, Ordering::Relaxed);
        Ok::<_, std::io::Error>(())
    });
    let counts = worker.until_empty().run().await?;
    assert_eq!((counts.acknowledged, most.load(Ordering::Relaxed)), (40, 3));
    Ok(())
}

pub(super) async fn a_worker_that_is_shut_down_gives_back_what_it_cannot_finish(
    url: &str,
) -> Result {
    let queue = queue(url, "shutdown").await;
    queue.push_all((0..4).map(|i| Push::new(i.to_string()))).await;
    let (shut, shutdown) = tokio::sync::oneshot::channel::<()>();
    let shut = Arc::new(std::sync::Mutex::new(Some(shut)));
    let (left, started) = (queue.clone(), Arc::new(AtomicU32::new(0)));
    let worker = queue.worker(2, move |item| {
        let (shut, started) = (Arc::clone(&shut), Arc::clone(&started));
        async move {
            if started.fetch_add(1, Ordering::Relaxed) == 1 {
                drop(shut.lock().expect("nobody panics").take());
            }
            if text(&item) == "0" {
                Ok(())
            } else {
                std::future::pending::<std::io::Result<()>>().await
            }
        }
    });
    let worker = worker.grace(Duration::from_millis(50));
    let counts = worker.run_until(async { drop(shutdown.await) }).await?;
    assert_eq!(counts.acknowledged, 1);
    assert!((1..=2).contains(&counts.given_back), "{counts:?}");
    eventually(&left, |seen| seen.in_work == 0 && seen.ready == 3 && seen.idle == 0).await;
    assert_eq!(left.pop().await?.attempt(), 1, "no delivery was counted");
    left.purge().await?;
    Ok(())
}

pub(super) async fn an_item_that_its_handler_has_ended_counts_by_that_end_after_the_grace(
    url: &str,
) -> Result {
    let queue = queue(url, "ended by hand").await;
    queue.push("x").await?;
    let (shut, shutdown) = tokio::sync::oneshot::channel::<()>();
    let shut = std::sync::Mutex::new(Some(shut));
    let worker = queue.worker(1, |item| {
        let shut = &shut;
        async move {
            item.acknowledge().await?;
            drop(shut.lock().expect("nobody panics").take());
            std::future::pending::<std::result::Result<(), FinishError>>().await
        }
    });
    let worker = worker.grace(Duration::ZERO);
    let counts = worker.run_until(async { drop(shutdown.await) }).await?;
    assert_eq!((counts.acknowledged, counts.given_back), (1, 0), "{counts:?}");
    is_left_empty(&queue).await;
    Ok(())
}

pub(super) async fn a_shutdown_ends_handlers_that_go_on_after_the_queue_is_empty(
    url: &str,
) -> Result {
    let queue = queue(url, "empty and at work").await;
    queue.push("x").await?;
    let (shut, shutdown) = tokio::sync::oneshot::channel::<()>();
    let (shut, seen) = (std::sync::Mutex::new(Some(shut)), queue.clone());
    let worker = queue.worker(2, |item| {
        let (shut, seen) = (&shut, &seen);
        async move {
            item.acknowledge().await?;
            // The worker wants no more items, because it was told that the queue is empty.
            eventually(seen, |seen| seen.idle == 0).await;
            drop(shut.lock().expect("nobody panics").take());
            std::future::pending::<std::result::Result<(), FinishError>>().await
        }
    });
    let worker = worker.until_empty().grace(Duration::ZERO);
    let working = worker.run_until(async { drop(shutdown.await) });
    let counts = tokio::time::timeout(Duration::from_secs(60), working).await??;
    assert_eq!(counts.acknowledged, 1, "{counts:?}");
    Ok(())
}

pub(super) async fn an_item_that_was_lost_counts_as_lost_after_the_grace(url: &str) -> Result {
    let queue = queue(url, "lost and late").await;
    queue.push("x").await?;
    let (shut, shutdown) = tokio::sync::oneshot::channel::<()>();
    let (shut, steering) = (std::sync::Mutex::new(Some(shut)), queue.clone());
    let worker = queue.worker(1, |item| {
        let (shut, steering) = (&shut, &steering);
        async move {
            steering.cancel(item.id()).await?;
            item.lost().await;
            drop(shut.lock().expect("nobody panics").take());
            std::future::pending::<std::result::Result<(), QueueError>>().await
        }
    });
    let worker = worker.run_on_when_lost().grace(Duration::ZERO);
    let counts = worker.run_until(async { drop(shutdown.await) }).await?;
    assert_eq!((counts.lost, counts.given_back), (1, 0), "{counts:?}");
    Ok(())
}

pub(super) async fn a_handler_is_dropped_when_its_delivery_is_lost(url: &str) -> Result {
    let queue = queue(url, "lost").await;
    let id = queue.push("x").await?.id;
    let steering = queue.clone();
    let worker = queue.worker(1, |item| {
        let steering = steering.clone();
        async move {
            steering.cancel(item.id()).await?;
            std::future::pending::<std::result::Result<(), QueueError>>().await
        }
    });
    let counts = worker.until_empty().run().await?;
    assert_eq!((counts.lost, counts.acknowledged), (1, 0));
    assert!(matches!(queue.cancel(id).await, Err(QueueError::NoSuchItem(_))));
    Ok(())
}

pub(super) async fn a_worker_that_is_told_so_runs_on_when_its_delivery_is_lost(
    url: &str,
) -> Result {
    let queue = queue(url, "lost and on").await;
    queue.push("x").await?;
    let (steering, seen) = (queue.clone(), AtomicU32::new(0));
    let worker = queue.worker(1, |item| {
        let (steering, seen) = (&steering, &seen);
        async move {
            steering.cancel(item.id()).await?;
            item.lost().await;
            seen.fetch_add(1, Ordering::Relaxed);
            Ok::<_, QueueError>(())
        }
    });
    let counts = worker.run_on_when_lost().until_empty().run().await?;
    assert_eq!((counts.lost, seen.load(Ordering::Relaxed)), (1, 1));
    Ok(())
}
