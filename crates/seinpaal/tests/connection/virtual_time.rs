//! A store in memory that lives on the test's own runtime, by its clock: hours pass at once.

use std::{future::IntoFuture, time::Duration};

use seinpaal::{AcquireError, Ended, Lost, PopError, Seinpaal};
use tokio::time::{Instant, sleep};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn a_timeout_of_an_hour_passes_at_once_and_not_before_the_hour() {
    let name = Seinpaal::in_memory_here().semaphore("x");
    let _permit = name.acquire().await.expect("granted");
    let began = Instant::now();
    assert!(matches!(name.acquire().timeout(HOUR).await, Err(AcquireError::TimedOut)));
    assert!((HOUR..HOUR + Duration::from_secs(1)).contains(&began.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn two_hundred_waits_end_with_a_permit_and_none_by_its_timeout() {
    let name = Seinpaal::in_memory_here().semaphore("x").limit(2);
    let work = async |n: u64| {
        let permit = name.acquire().timeout(2 * HOUR).await.expect("granted in time");
        sleep(Duration::from_secs(n % 60)).await;
        assert!(permit.is_held(), "it was renewed for as long as it was used");
        permit.release().await.expect("released");
    };
    futures_util::future::join_all((0..200).map(work)).await;
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_held_through_an_hour_of_work_and_lost_when_it_is_evicted() {
    let name = Seinpaal::in_memory_here().semaphore("x");
    let permit = name.acquire().await.expect("granted");
    assert_eq!(permit.while_held(sleep(HOUR)).await, Ok(()));
    name.evict(permit.ticket()).await.expect("evicted");
    let stopped = permit.while_held(sleep(HOUR)).await;
    assert_eq!(stopped, Err(Lost::Ended(Ended::Evicted)));
}

#[tokio::test(start_paused = true)]
async fn a_detached_permit_ends_when_its_virtual_ttl_has_passed() {
    let name = Seinpaal::in_memory_here().semaphore("x");
    let permit = name.acquire().ttl(Duration::from_secs(60)).await.expect("granted");
    drop(permit.detach().await.expect("detached"));
    sleep(Duration::from_secs(50)).await;
    assert!(name.try_acquire().await.expect("asked").is_none());
    let again = name.acquire().timeout(HOUR).await;
    assert!(again.expect("granted when the lease has ended").is_held());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_is_told_its_position_as_the_line_moves() {
    let name = Seinpaal::in_memory_here().semaphore("x");
    let _permit = name.acquire().await.expect("granted");
    let first = tokio::spawn(name.acquire().ttl(HOUR).into_future());
    sleep(Duration::from_secs(1)).await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let second =
        name.acquire().on_position(move |position| tell.send(position).unwrap_or_default());
    let second = tokio::spawn(second.into_future());
    assert_eq!(told.recv().await, Some(2));
    first.abort();
    while told.recv().await != Some(1) {}
    second.abort();
}

#[tokio::test(start_paused = true)]
async fn queues_delay_and_wait_by_the_same_clock() {
    let queue = Seinpaal::in_memory_here().queue("q");
    let began = Instant::now();
    queue.push("later").delay(HOUR).await.expect("pushed");
    assert!(matches!(queue.pop().timeout(HOUR / 2).await, Err(PopError::TimedOut)));
    let item = queue.pop().await.expect("popped");
    assert!(began.elapsed() >= HOUR);
    sleep(HOUR).await;
    assert!(item.is_held());
    item.acknowledge().await.expect("acknowledged");
}

#[tokio::test]
async fn stores_in_memory_are_isolated_unless_they_have_a_label() {
    let own = [Seinpaal::in_memory(), Seinpaal::in_memory(), Seinpaal::in_memory_here()];
    let mut held = Vec::new();
    for seinpaal in &own {
        held.push(seinpaal.mutex("x").try_lock().await.expect("asked").expect("nobody else"));
    }
    let labelled = async |label| Seinpaal::connect(label).await.expect("connected");
    let (one, same, other) =
        (labelled("memory:a").await, labelled("memory:a").await, labelled("memory:b").await);
    let _permit = one.mutex("x").lock().await.expect("granted");
    assert!(same.mutex("x").try_lock().await.expect("asked").is_none());
    assert!(other.mutex("x").try_lock().await.expect("asked").is_some());
}
