use seinpaal::{Seinpaal, Semaphore};

use super::*;

impl NameHistories {
    fn look_at(&self, seen: &Snapshot, now: Duration) -> (NamePast, Duration) {
        (self.learn_at(&mut seen.clone(), now, NamePast::clone), now)
    }
}

fn at(seconds: u64) -> Duration {
    BEGINNING + Duration::from_secs(seconds)
}

async fn name(limit: u32) -> (Seinpaal, Semaphore) {
    let seinpaal = Seinpaal::in_memory();
    let semaphore = seinpaal.semaphore("a").limit(limit);
    (seinpaal, semaphore)
}

#[tokio::test]
async fn a_bucket_has_the_least_and_the_most_of_its_readings() {
    let (_seinpaal, semaphore) = name(3).await;
    let history = NameHistories::new(ServeTally::default());
    let one = semaphore.acquire().await.unwrap();
    history.look_at(&semaphore.snapshot().await.unwrap(), at(0));
    let two = semaphore.acquire().await.unwrap();
    let (past, _) = history.look_at(&semaphore.snapshot().await.unwrap(), at(1));
    let bucket = past.fine.get(past.fine.number(at(0))).unwrap();
    assert_eq!((bucket.held, bucket.limit), ((1, 2), 3));
    drop((one, two));
}

#[tokio::test]
async fn what_nobody_read_is_unknown_and_a_short_gap_is_as_the_reading_before() {
    let (_seinpaal, semaphore) = name(3).await;
    let history = NameHistories::new(ServeTally::default());
    let permit = semaphore.acquire().await.unwrap();
    let seen = semaphore.snapshot().await.unwrap();
    history.look_at(&seen, at(0));
    history.look_at(&seen, at(60));
    let (past, _) = history.look_at(&seen, at(200));
    let known = |seconds: u64| past.fine.get(past.fine.number(at(seconds)));
    assert!(known(30).is_some_and(|bucket| bucket.is_carried && bucket.held == (1, 1)));
    assert!(known(60).is_some_and(|bucket| !bucket.is_carried));
    assert!(known(100).is_none() && known(200).is_some());
    drop(permit);
}

#[tokio::test]
async fn an_outage_leaves_a_gap_and_a_sentence() {
    let (_seinpaal, semaphore) = name(3).await;
    let history = NameHistories::new(ServeTally::default());
    let permit = semaphore.acquire().await.unwrap();
    let seen = semaphore.snapshot().await.unwrap();
    history.look_at(&seen, at(0));
    history.silent_at(at(10));
    history.silent_at(at(12));
    let (past, _) = history.look_at(&seen, at(40));
    let known = |seconds: u64| past.fine.get(past.fine.number(at(seconds))).is_some();
    assert!(known(0) && known(8) && known(40));
    assert!(!known(10) && !known(20) && !known(38));
    let words = history.lock_outages().words(at(39));
    assert!(words.len() == 1 && words[0].starts_with("The store did not answer for 30s, until "));
    assert!(history.lock_outages().words(at(40)).is_empty());
    drop(permit);
}

#[tokio::test]
async fn a_ring_forgets_readings_older_than_its_length() {
    let (_seinpaal, semaphore) = name(1).await;
    let history = NameHistories::new(ServeTally::default());
    let seen = semaphore.snapshot().await.unwrap();
    for seconds in (0..900).step_by(10) {
        history.look_at(&seen, at(seconds));
    }
    let (past, now) = history.look_at(&seen, at(900));
    assert!(past.fine.get(past.fine.number(at(0))).is_none());
    assert!(past.fine.get(past.fine.number(at(310))).is_some());
    assert!(past.coarse.get(past.coarse.number(at(0))).is_some());
    assert_eq!(now, at(900));
    let (past, _) = history.look_at(&seen, at(1_000_000));
    assert!(past.coarse.get(past.coarse.number(at(900))).is_none(), "everything is too old");
}

#[tokio::test]
async fn a_waiter_that_holds_at_the_next_reading_has_waited_so_long() {
    let (_seinpaal, semaphore) = name(1).await;
    let history = NameHistories::new(ServeTally::default());
    let holder = semaphore.acquire().await.unwrap();
    let mut before = semaphore.snapshot().await.unwrap();
    let ticket = holder.ticket();
    let waiter = tokio::spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.acquire().await }
    });
    while before.waiters.is_empty() {
        tokio::task::yield_now().await;
        before = semaphore.snapshot().await.unwrap();
    }
    before.waiters[0].waiting_for = Duration::from_secs(30);
    before.holders[0].held_for = Duration::from_secs(100);
    history.look_at(&before, at(0));
    holder.release().await.unwrap();
    let permit = waiter.await.unwrap().unwrap();
    let mut after = semaphore.snapshot().await.unwrap();
    assert_ne!(after.holders[0].ticket, ticket);
    after.holders[0].held_for = Duration::from_millis(500);
    let (past, _) = history.look_at(&after, at(2));
    let took = |seconds: f64| Duration::from_secs_f64(seconds);
    assert_eq!(past.waits.since(at(0)), Some((1, took(31.5), took(31.5))));
    assert_eq!(past.holds.since(at(0)), Some((1, took(101.0), took(101.0))), "half-way");
    let bucket = past.fine.get(past.fine.number(at(1))).unwrap();
    assert_eq!((bucket.granted, bucket.waited), (1, 31_500));
    drop(permit);
}

#[tokio::test]
async fn only_so_many_names_have_a_past_and_the_one_read_longest_ago_goes_first() {
    let seinpaal = Seinpaal::in_memory();
    let history = NameHistories::new(ServeTally::default());
    for number in 0..=MOST_NAMES as u64 {
        let seen = seinpaal.semaphore(&number.to_string()).snapshot().await.unwrap();
        history.look_at(&seen, at(number));
    }
    let names = history.names.lock().unwrap();
    assert_eq!(names.len(), MOST_NAMES);
    assert!(!names.contains_key("0") && names.contains_key("1"));
}

#[tokio::test]
async fn of_a_queue_what_is_in_work_counts_as_held_and_what_is_ready_as_waiting() {
    let seinpaal = Seinpaal::in_memory();
    let queue = seinpaal.queue("a");
    let history = NameHistories::new(ServeTally::default());
    for payload in ["one", "two", "three"] {
        queue.push(payload).await.unwrap();
    }
    history.look_into_at(&queue.snapshot().await.unwrap(), at(0));
    let item = queue.pop().await.unwrap();
    let (past, _) = history.look_into_at(&queue.snapshot().await.unwrap(), at(1));
    let bucket = past.fine.get(past.fine.number(at(0))).unwrap();
    assert_eq!((bucket.held, bucket.waiting, bucket.limit), ((0, 1), (2, 3), 0));
    let (past, _) = history.look_at(&seinpaal.semaphore("a").snapshot().await.unwrap(), at(1));
    let bucket = past.fine.get(past.fine.number(at(1))).unwrap();
    assert_eq!(
        (bucket.held, bucket.waiting),
        ((0, 0), (0, 0)),
        "a name and a queue are two things"
    );
    drop(item);
}
