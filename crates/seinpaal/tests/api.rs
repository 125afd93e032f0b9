//! The public API on every store, with the real driver and the real clock.

#[path = "support/changing_hands.rs"]
mod changing_hands;
#[path = "api/in_hand.rs"]
mod in_hand;
#[path = "api/several.rs"]
mod several;

use std::{
    future::IntoFuture,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use seinpaal::{AcquireError, OnMismatch, Seinpaal, Semaphore, blocking};
use seinpaal_rig::SentinelServers;

use changing_hands::{
    a_client_that_attaches_to_its_own_ticket_has_one_permit,
    a_holder_that_is_attached_to_is_told_and_can_free_nothing,
    a_holder_whose_ticket_is_released_by_another_is_told,
    of_two_that_attach_to_a_detached_ticket_one_has_it,
};

use in_hand::{
    a_detached_ticket_outlives_its_connection_and_can_be_attached_to,
    a_permit_is_renewed_while_it_is_held, a_permit_splits_and_merges_and_goes_back_in_parts,
    an_evicted_holder_learns_of_it_and_its_work_is_dropped,
};
use several::{
    a_mutex_has_one_holder_and_its_limit_stays, a_name_that_is_one_lock_is_refused_as_another,
    a_set_is_lost_with_the_first_of_its_permits, a_writer_waits_for_readers_and_becomes_one,
    all_of_several_names_or_none, in_the_order_given_the_narrow_name_is_waited_for_first,
    only_the_writer_of_a_readers_writer_lock_becomes_a_reader,
    several_names_in_another_order_wait_but_not_for_ever,
    several_that_are_free_are_had_at_once_and_otherwise_none_is,
};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

async fn connect(url: &str) -> Seinpaal {
    Seinpaal::connect(url).await.expect("the store opens")
}

/// Looks until a condition holds. A test whose condition never holds hangs, and is stopped by its
/// runner.
async fn eventually(semaphore: &Semaphore, condition: impl Fn(&seinpaal::Snapshot) -> bool) {
    while !condition(&semaphore.snapshot().await.expect("the store answers")) {
        tokio::task::yield_now().await;
    }
}

async fn is_left_empty(semaphore: &Semaphore) {
    eventually(semaphore, |seen| seen.permits_held == 0 && seen.waiting_total == 0).await;
}

async fn permits_are_given_in_order_and_given_back_by_drop(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("order").limit(2);
    let (one, two) = (semaphore.acquire().await?, semaphore.acquire().await?);
    assert_eq!((one.slot(), two.slot()), (0, 1));
    assert!(semaphore.try_acquire().await?.is_none());
    drop(one);
    let three = semaphore.acquire().await?;
    assert_eq!(three.slot(), 0);
    assert!(three.fence() > two.fence());
    Ok(())
}

async fn a_waiter_of_another_connection_is_woken_by_a_release(url: &str) -> Result {
    let (here, there) =
        (connect(url).await.semaphore("woken"), connect(url).await.semaphore("woken"));
    let permit = here.acquire().await?;
    let waiting = tokio::spawn(there.acquire().into_future());
    eventually(&here, |seen| seen.waiting_total == 1).await;
    permit.release().await?;
    assert!(waiting.await??.is_held());
    Ok(())
}

async fn a_timeout_leaves_the_queue(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("timeout");
    let _permit = semaphore.acquire().await?;
    // The store keeps a timeout as long as this. A shorter one could end in silence instead.
    let refused = semaphore.acquire().timeout(Duration::from_secs(1)).await;
    assert!(matches!(refused, Err(AcquireError::TimedOut)));
    eventually(&semaphore, |seen| seen.waiting_total == 0).await;
    Ok(())
}

async fn a_timeout_of_nothing_asks_the_store_once(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let (one, other) = (seinpaal.semaphore("nothing"), seinpaal.semaphore("nothing else"));
    for timeout in [Duration::ZERO, Duration::from_micros(1)] {
        let free = [one.acquire().timeout(timeout), other.acquire()];
        let both = seinpaal.acquire_all(free).timeout(timeout).await?;
        let refused = one.acquire().timeout(timeout).await;
        assert!(matches!(refused, Err(AcquireError::TimedOut)), "{refused:?}");
        let refused = seinpaal.acquire_all([one.acquire(), other.acquire()]).timeout(timeout).await;
        assert!(matches!(refused.unwrap_err().error, AcquireError::TimedOut));
        both.release().await?;
        one.acquire().timeout(timeout).await?.release().await?;
        other.acquire().timeout(timeout).await?.release().await?;
    }
    Ok(())
}

async fn who_waits_in_vain_for_a_paused_name_is_told_why_it_is_paused(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("paused");
    semaphore.pause("driver update").await?;
    for timeout in [Duration::ZERO, Duration::from_secs(1)] {
        let refused = semaphore.acquire().timeout(timeout).await.unwrap_err();
        let AcquireError::Paused { reason } = &refused else { panic!("{refused:?}") };
        assert_eq!(reason, "driver update");
        assert!(refused.is_busy());
    }
    assert!(semaphore.try_acquire().await?.is_none());
    semaphore.resume().await?;
    semaphore.acquire().await?.release().await?;
    Ok(())
}

async fn a_future_dropped_after_any_number_of_polls_leaves_nothing_behind(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("dropped");
    for held in [false, true] {
        let permit = if held { Some(semaphore.acquire().await?) } else { None };
        for polls in 0..20 {
            let mut future = pin!(semaphore.acquire().into_future());
            for _ in 0..polls {
                let mut context = Context::from_waker(Waker::noop());
                if let Poll::Ready(permit) = future.as_mut().poll(&mut context) {
                    drop(permit);
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        drop(permit);
        is_left_empty(&semaphore).await;
    }
    Ok(())
}

async fn bad_input_is_refused_before_anything_is_sent(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let semaphore = |name: &str| seinpaal.semaphore(name);
    let long = "x".repeat(513);
    for name in ["", "a\nb", long.as_str()] {
        assert!(matches!(semaphore(name).acquire().await, Err(AcquireError::Name(_))), "{name:?}");
    }
    let good = semaphore("bad input");
    assert!(matches!(good.acquire().permits(0).await, Err(AcquireError::Count(_))));
    assert!(matches!(good.acquire().permits(u32::MAX).await, Err(AcquireError::Count(_))));
    assert!(matches!(good.acquire().priority(101).await, Err(AcquireError::Count(_))));
    assert!(matches!(good.acquire().ttl(Duration::ZERO).await, Err(AcquireError::Setting(_))));
    assert!(matches!(good.acquire().ttl(Duration::MAX).await, Err(AcquireError::Setting(_))));
    assert!(matches!(good.acquire().label("", "x").await, Err(AcquireError::Setting(_))));
    let huge = "x".repeat(5000);
    assert!(matches!(good.acquire().label("k", &huge).await, Err(AcquireError::Setting(_))));
    assert!(matches!(good.clone().limit(u32::MAX).acquire().await, Err(AcquireError::Count(_))));
    assert!(seinpaal.list("bad").await?.is_empty());
    Ok(())
}

async fn a_stated_limit_is_held_to_unless_told_otherwise(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let seen = seinpaal.semaphore("limits").limit(2).snapshot().await?;
    assert_eq!((seen.available(), seen.stated_limit), (2, None));
    let _permit = seinpaal.semaphore("limits").limit(2).acquire().await?;
    let other = seinpaal.semaphore("limits").limit(3);
    let refused = other.acquire().await;
    assert!(matches!(refused, Err(AcquireError::OtherLimit { stored: 2, stated: 3, .. })));
    let adopted = other.clone().on_mismatch(OnMismatch::Adopt).acquire().await?;
    assert_eq!(adopted.limit(), 2);
    let set = other.on_mismatch(OnMismatch::Set).acquire().await?;
    assert_eq!(set.limit(), 3);
    let many = seinpaal.semaphore("limits").acquire().permits(4).await;
    assert!(matches!(many, Err(AcquireError::TooMany { permits: 4, limit: 3 })));
    Ok(())
}

async fn a_thousand_tasks_share_a_connection(url: &str) -> Result {
    let semaphore = connect(url).await.semaphore("many").limit(7);
    let tasks: Vec<_> = (0..1000)
        .map(|_| {
            let permit = semaphore.acquire().into_future();
            // The permit is dropped in its own task. A quorum keeps no order, so the first task to
            // hold may be the one that was spawned last.
            tokio::spawn(async move { permit.await.map(drop) })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    is_left_empty(&semaphore).await;
    Ok(())
}

async fn permits_are_dropped_where_no_runtime_is(url: &str) -> Result {
    let seinpaal = blocking::Seinpaal::connect(url)?;
    let semaphore = seinpaal.semaphore("no runtime").limit(1);
    std::thread::scope(|scope| {
        let permit = semaphore.acquire();
        scope.spawn(move || drop(permit));
    });
    drop(semaphore.acquire_timeout(Duration::from_secs(10))?);
    Ok(())
}

#[test]
#[should_panic = "executor"]
fn to_wait_inside_a_future_that_is_waited_for_panics() {
    blocking::wait(async { blocking::wait(async {}) });
}

/// Runs every case on every store, each with a store to itself.
macro_rules! on_every_store {
    ($($case:ident)*) => {
        mod memory {
            $(#[tokio::test] async fn $case() -> super::Result { super::$case("memory:").await })*
        }

        mod embedded {
            $(#[tokio::test] async fn $case() -> super::Result {
                let directory = tempfile::tempdir()?;
                super::$case(&format!("file://{}", directory.path().display())).await
            })*
        }

        mod sentinel {
            $(#[tokio::test] async fn $case() -> super::Result {
                let servers = super::SentinelServers::shared();
                super::$case(&servers.url(concat!("?prefix=", stringify!($case), ":"))).await
            })*
        }

        mod sentinel_replicated {
            $(#[tokio::test] async fn $case() -> super::Result {
                let servers = super::SentinelServers::shared();
                let options = concat!("?replicated=2&prefix=r-", stringify!($case), ":");
                super::$case(&servers.url(options)).await
            })*
        }

        mod redis {
            $(#[tokio::test] async fn $case() -> super::Result {
                let server = seinpaal_rig::RedisServer::start();
                super::$case(&server.socket_url("")).await
            })*
        }

        mod quorum {
            $(#[tokio::test] async fn $case() -> super::Result {
                let servers: [_; 3] = std::array::from_fn(|_| seinpaal_rig::RedisServer::start());
                let nodes = servers.each_ref().map(|server| format!("127.0.0.1:{}", server.port())).join(",");
                super::$case(&format!("redis+quorum://{nodes}?restart-guard=off")).await
            })*
        }

        #[cfg(feature = "zookeeper")]
        mod zookeeper {
            $(#[tokio::test] async fn $case() -> super::Result {
                let server = seinpaal_rig::ZookeeperEnsemble::shared();
                super::$case(&format!("{}/api/{}", server.url(), stringify!($case))).await
            })*
        }

        mod redis_cluster {
            $(#[tokio::test] async fn $case() -> super::Result {
                let cluster = seinpaal_rig::RedisCluster::shared();
                super::$case(&format!("{}?prefix={}:", cluster.url(), stringify!($case))).await
            })*
        }
    };
}

on_every_store! {
    permits_are_given_in_order_and_given_back_by_drop
    a_waiter_of_another_connection_is_woken_by_a_release
    a_timeout_leaves_the_queue
    a_timeout_of_nothing_asks_the_store_once
    who_waits_in_vain_for_a_paused_name_is_told_why_it_is_paused
    a_future_dropped_after_any_number_of_polls_leaves_nothing_behind
    bad_input_is_refused_before_anything_is_sent
    a_stated_limit_is_held_to_unless_told_otherwise
    a_permit_splits_and_merges_and_goes_back_in_parts
    an_evicted_holder_learns_of_it_and_its_work_is_dropped
    a_detached_ticket_outlives_its_connection_and_can_be_attached_to
    a_holder_that_is_attached_to_is_told_and_can_free_nothing
    a_client_that_attaches_to_its_own_ticket_has_one_permit
    of_two_that_attach_to_a_detached_ticket_one_has_it
    a_holder_whose_ticket_is_released_by_another_is_told
    a_permit_is_renewed_while_it_is_held
    a_thousand_tasks_share_a_connection
    permits_are_dropped_where_no_runtime_is
    a_mutex_has_one_holder_and_its_limit_stays
    a_name_that_is_one_lock_is_refused_as_another
    a_writer_waits_for_readers_and_becomes_one
    only_the_writer_of_a_readers_writer_lock_becomes_a_reader
    all_of_several_names_or_none
    in_the_order_given_the_narrow_name_is_waited_for_first
    several_names_in_another_order_wait_but_not_for_ever
    several_that_are_free_are_had_at_once_and_otherwise_none_is
    a_set_is_lost_with_the_first_of_its_permits
}
