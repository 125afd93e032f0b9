//! Mutexes, readers-writer locks, and permits of several names.

use std::future::IntoFuture;
use std::time::Duration;

use seinpaal::{AcquireError, AdminError, Kind, MOST_READERS, ReleaseError};

use super::{Result, connect, eventually, is_left_empty};

pub(super) async fn a_mutex_has_one_holder_and_its_limit_stays(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let mutex = seinpaal.mutex("one");
    let permit = mutex.lock().await?;
    assert!(mutex.try_lock().await?.is_none());
    let refused = mutex.as_semaphore().set_limit(2).await;
    assert!(matches!(refused, Err(AdminError::FixedLimit(Kind::Mutex))), "{refused:?}");
    let refused = mutex.lock().permits(2).await;
    assert!(matches!(refused, Err(AcquireError::TooMany { .. })), "{refused:?}");
    permit.release().await?;
    assert!(mutex.try_lock().await?.is_some());
    Ok(())
}

pub(super) async fn a_name_that_is_one_lock_is_refused_as_another(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let _permit = seinpaal.mutex("one lock").lock().await?;
    let (semaphore, rwlock) = (seinpaal.semaphore("one lock"), seinpaal.rwlock("one lock"));
    for (request, kind) in [(semaphore.acquire(), Kind::Semaphore), (rwlock.read(), Kind::RwLock)] {
        let refused = request.await.expect_err("it is a mutex");
        let stored = Kind::Mutex;
        assert!(
            matches!(refused, AcquireError::OtherKind { stored: s, stated } if (s, stated) == (stored, kind)),
            "{refused}"
        );
    }
    Ok(())
}

pub(super) async fn a_writer_waits_for_readers_and_becomes_one(url: &str) -> Result {
    let rwlock = connect(url).await.rwlock("pages");
    let (one, two) = (rwlock.read().await?, rwlock.read().await?);
    let writing = tokio::spawn(rwlock.write().into_future());
    eventually(rwlock.as_semaphore(), |seen| seen.waiting_total == 1).await;
    assert!(rwlock.try_read().await?.is_none(), "a reader does not pass a writer that waits");
    drop((one, two));
    let writer = writing.await??;
    let fence = writer.fence();
    let reader = writer.downgrade().await?;
    assert_eq!((reader.fence(), reader.permits()), (fence, 1));
    assert!(rwlock.try_read().await?.is_some());
    assert!(rwlock.try_write().await?.is_none());
    assert_eq!(reader.downgrade().await.err(), Some(ReleaseError::NotAWriter));
    is_left_empty(rwlock.as_semaphore()).await;
    Ok(())
}

pub(super) async fn only_the_writer_of_a_readers_writer_lock_becomes_a_reader(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let semaphore = seinpaal.semaphore("a million").limit(MOST_READERS);
    let permit = semaphore.acquire().permits(MOST_READERS).await?;
    assert_eq!(permit.downgrade().await.err(), Some(ReleaseError::NotAWriter));
    is_left_empty(&semaphore).await;
    Ok(())
}

pub(super) async fn all_of_several_names_or_none(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let (a, b) = (seinpaal.semaphore("a").limit(2), seinpaal.mutex("b"));
    let both = seinpaal.acquire_all([b.lock(), a.acquire().permits(2)]).await?;
    let names: Vec<_> = both.permits().iter().map(|permit| permit.name()).collect();
    assert_eq!(names, ["b", "a"]);
    // This is longer than a slow store takes for its answer. If the store were silent for the whole
    // wait, the error would be about the store instead.
    let soon = Duration::from_secs(1);
    let refused = seinpaal.acquire_all([b.lock(), a.acquire()]).timeout(soon).await;
    let refused = refused.expect_err("both are held");
    assert_eq!((&*refused.name, refused.error.to_string()), ("a", "timed out waiting".into()));
    assert!(seinpaal.try_acquire_all([a.try_acquire(), b.try_lock()]).await?.is_none());
    let mut permits = both.into_permits();
    drop(permits.pop());
    let refused = seinpaal.acquire_all([b.lock(), a.acquire()]).timeout(soon).await;
    assert_eq!(refused.expect_err("b is held").name, "b");
    is_left_empty(&a).await;
    let twice = seinpaal.acquire_all([a.acquire(), b.lock(), a.acquire()]).await;
    assert!(matches!(twice.expect_err("twice").error, AcquireError::NamedTwice));
    Ok(())
}

pub(super) async fn several_that_are_free_are_had_at_once_and_otherwise_none_is(
    url: &str,
) -> Result {
    let seinpaal = connect(url).await;
    let (a, b, c) = (seinpaal.semaphore("sa").limit(2), seinpaal.mutex("sb"), seinpaal.mutex("sc"));
    let all = [a.try_acquire(), b.try_lock(), c.try_lock()];
    let all = seinpaal.try_acquire_all(all).await?.ok_or("all are free")?;
    assert_eq!(all.permits().len(), 3);
    let some = seinpaal.try_acquire_all([a.try_acquire(), c.try_lock()]).await?;
    assert!(some.is_none() && a.snapshot().await?.permits_held == 1);
    let refused =
        seinpaal.try_acquire_all([a.try_acquire(), seinpaal.rwlock("sc").try_read()]).await;
    assert!(matches!(refused.expect_err("a mutex").error, AcquireError::OtherKind { .. }));
    all.release().await?;
    is_left_empty(&a).await;
    Ok(())
}

pub(super) async fn in_the_order_given_the_narrow_name_is_waited_for_first(url: &str) -> Result {
    let seinpaal = connect(url).await;
    // In the order of their bytes the wide name comes first.
    let (wide, narrow) = (seinpaal.mutex("all"), seinpaal.mutex("one of them"));
    let both = seinpaal.acquire_all([narrow.lock(), wide.lock()]).in_given_order().await?;
    let names: Vec<_> = both.permits().iter().map(|permit| permit.name()).collect();
    assert_eq!(names, ["one of them", "all"]);
    let soon = Duration::from_secs(1);
    let refused = seinpaal.acquire_all([narrow.lock(), wide.lock()]).timeout(soon);
    let refused = refused.in_given_order().await.expect_err("both are held");
    assert_eq!(refused.name, "one of them");
    both.release().await?;
    Ok(())
}

pub(super) async fn several_names_in_another_order_wait_but_not_for_ever(url: &str) -> Result {
    let rounds = (0..4_usize).map(async |turn| {
        let seinpaal = connect(url).await;
        for round in 0..25 {
            let mut names = ["x", "y", "z"];
            names.rotate_left((turn + round) % 3);
            let locks = names.map(|name| seinpaal.mutex(name).lock());
            let all = seinpaal.acquire_all(locks).await.expect("its turn comes");
            assert!(all.is_held());
            all.release().await.expect("it was held");
        }
    });
    futures_util::future::join_all(rounds).await;
    Ok(())
}

pub(super) async fn a_set_is_lost_with_the_first_of_its_permits(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let (a, b) = (seinpaal.semaphore("first"), seinpaal.semaphore("second"));
    let both = seinpaal.acquire_all([a.acquire(), b.acquire()]).await?;
    let evicting = b.evict(both.permits()[1].ticket());
    let (evicted, worked) = tokio::join!(evicting, both.while_held(std::future::pending::<()>()));
    evicted?;
    assert!(worked.is_err() && !both.is_held());
    assert_eq!(both.worst().map(|permit| permit.name()), Some("second"));
    assert_eq!(both.release().await, Err(ReleaseError::NotHeld));
    is_left_empty(&a).await;
    Ok(())
}
