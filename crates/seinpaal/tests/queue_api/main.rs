//! Queues through the public API, with the real driver and the real clock, on every store that
//! keeps queues.

mod in_hand;
mod line;
mod workers;

use std::{future::IntoFuture, time::Duration};

use seinpaal::{PopError, Push, PushError, Queue, QueueError, QueueSnapshot, Seinpaal, blocking};

use in_hand::*;
use line::*;
use workers::*;

type Result = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

const HOUR: Duration = Duration::from_secs(3600);

async fn connect(url: &str) -> Seinpaal {
    Seinpaal::connect(url).await.expect("the store opens")
}

async fn queue(url: &str, name: &str) -> Queue {
    connect(url).await.queue(name)
}

/// Looks until a condition holds. A test whose condition never holds hangs, and is stopped by its
/// runner.
async fn eventually(queue: &Queue, condition: impl Fn(&QueueSnapshot) -> bool) {
    while !condition(&queue.snapshot().await.expect("the store answers")) {
        tokio::task::yield_now().await;
    }
}

async fn is_left_empty(queue: &Queue) {
    eventually(queue, |seen| seen.is_empty() && seen.idle == 0).await;
}

fn text(item: &seinpaal::Item) -> String {
    String::from_utf8_lossy(item.payload()).into_owned()
}

async fn bad_input_is_refused_before_anything_is_sent(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let good = seinpaal.queue("bad input");
    assert!(matches!(seinpaal.queue("").push("x").await, Err(PushError::Name(_))));
    assert!(matches!(seinpaal.queue("").pop().await, Err(PopError::Name(_))));
    assert!(matches!(seinpaal.queue("a\nb").snapshot().await, Err(QueueError::Name(_))));
    let huge = vec![0; (1 << 20) + 1];
    assert!(matches!(good.push(huge).await, Err(PushError::TooLarge(1_048_577))));
    assert!(matches!(good.push("x").priority(101).await, Err(PushError::Count(_))));
    assert!(matches!(good.push("x").deliveries(0).await, Err(PushError::Setting(_))));
    assert!(matches!(good.push("x").group("").await, Err(PushError::Name(_))));
    assert!(matches!(good.push("x").dedup("k", 200 * HOUR).await, Err(PushError::Setting(_))));
    assert!(matches!(good.push("x").label("", "x").await, Err(PushError::Setting(_))));
    assert!(matches!(good.pop().ttl(Duration::ZERO).await, Err(PopError::Setting(_))));
    assert!(matches!(good.pop_many(65).await, Err(PopError::Setting(_))));
    assert!(matches!(good.limit(Some(u32::MAX)).await, Err(QueueError::Count(_))));
    let answers = good.push_all([Push::new("x").priority(-101), Push::new("y")]).await;
    assert!(answers[0].is_err() && answers[1].is_ok());
    assert_eq!(good.purge().await?, 1);
    Ok(())
}

async fn a_payload_of_a_mebibyte_goes_through(url: &str) -> Result {
    let queue = queue(url, "large").await;
    let pushes = (0..6_u8).map(|i| Push::new(vec![i; 1 << 20]));
    for pushed in queue.push_all(pushes).await {
        pushed?;
    }
    for i in 0..6_u8 {
        let item = queue.pop().await?;
        assert!(item.payload().len() == 1 << 20 && item.payload().iter().all(|byte| *byte == i));
        item.acknowledge().await?;
    }
    Ok(())
}

async fn limits_pauses_and_groups_are_kept(url: &str) -> Result {
    let queue = queue(url, "steered").await;
    queue.group_limit(Some(1)).await?;
    queue.limit(Some(2)).await?;
    for (payload, group) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c")] {
        queue.push(payload).group(group).await?;
    }
    let (one, two) = (queue.pop().await?, queue.pop().await?);
    assert_eq!((text(&one), text(&two)), ("a1".into(), "b1".into()));
    assert!(queue.try_pop().await?.is_none());
    queue.pause("lunch").await?;
    queue.limit(None).await?;
    assert!(queue.try_pop().await?.is_none());
    assert_eq!(queue.snapshot().await?.paused.as_deref(), Some("lunch"));
    queue.resume().await?;
    assert_eq!(text(&queue.pop().await?), "c1");
    for item in [one, two] {
        item.acknowledge().await?;
    }
    queue.group_limit(None).await?;
    assert!(queue.purge().await? >= 1);
    Ok(())
}

async fn queues_are_listed_by_prefix_and_apart_from_semaphores(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let _permit = seinpaal.semaphore("list a").acquire().await?;
    seinpaal.queue("list b").push("x").await?;
    let listed = seinpaal.queues("list ").await?;
    assert_eq!(listed.iter().map(|seen| seen.name.as_str()).collect::<Vec<_>>(), ["list b"]);
    assert_eq!(seinpaal.queue("list b").purge().await?, 1);
    Ok(())
}

async fn a_thousand_tasks_pop_from_one_connection(url: &str) -> Result {
    let seinpaal = connect(url).await;
    let queue = seinpaal.queue("crowd");
    let popping: Vec<_> = (0..1000).map(|_| tokio::spawn(queue.pop().into_future())).collect();
    eventually(&queue, |seen| seen.idle == 1).await;
    queue.push_all((0..1000).map(|i| Push::new(i.to_string()))).await;
    for popped in popping {
        popped.await??.acknowledge().await?;
    }
    is_left_empty(&queue).await;
    Ok(())
}

async fn programs_without_a_runtime_push_and_pop(url: &str) -> Result {
    let url = url.to_owned();
    let thread = std::thread::spawn(move || -> Result {
        let queue = blocking::Seinpaal::connect(&url)?.queue("blocking");
        queue.push("x")?;
        let item = queue.pop()?;
        assert_eq!(item.payload(), b"x");
        blocking::wait(item.acknowledge())?;
        assert!(queue.try_pop()?.is_none());
        let timeout = Duration::from_secs(1);
        assert!(matches!(queue.pop_timeout(timeout), Err(PopError::TimedOut)));
        Ok(())
    });
    thread.join().expect("it does not panic")
}

async fn a_spread_queue_keeps_a_group_together_and_all_its_parts_are_worked_on(
    url: &str,
) -> Result {
    let spread = queue(url, "spread").await.spread(4);
    for i in 0..8 {
        spread.push(Push::new("x")).await?;
        spread.push(Push::new("y").group("one").label("i", &i.to_string())).await?;
    }
    let mut of_group = Vec::new();
    for part in spread.parts() {
        let seen = part.snapshot().await?;
        assert!(seen.ready >= 2);
        of_group.extend(seen.groups.iter().map(|group| group.ready));
    }
    assert_eq!(of_group, [8]);
    let handler = |_item| async { Ok::<(), std::io::Error>(()) };
    let counts = spread.work(2, handler, |it| it.until_empty(), std::future::pending()).await?;
    assert_eq!(counts.acknowledged, 16);
    Ok(())
}

#[cfg(feature = "serde")]
async fn a_value_travels_as_json(url: &str) -> Result {
    let queue = queue(url, "json").await;
    queue.push_json(&("ann", 7)).priority(1).await?;
    let item = queue.pop().await?;
    assert_eq!(item.json::<(String, u32)>()?, ("ann".to_owned(), 7));
    assert!(item.json::<u32>().is_err());
    item.acknowledge().await?;
    Ok(())
}

/// A store by its URL, with the value that keeps it there.
fn memory() -> ((), String) {
    ((), "memory:".to_owned())
}

fn embedded() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory for the store");
    let url = format!("file://{}", directory.path().display());
    (directory, url)
}

fn redis() -> (seinpaal_rig::RedisServer, String) {
    let server = seinpaal_rig::RedisServer::start();
    let url = server.socket_url("");
    (server, url)
}

macro_rules! on_every_store {
    ($($cases:tt)*) => {
        on_store! { memory: $($cases)* }
        on_store! { embedded: $($cases)* }
        on_store! { redis: $($cases)* }
    };
}

macro_rules! on_store {
    ($store:ident: $($(#[$when:meta])* $case:ident)*) => {
        mod $store {
            $(#[tokio::test] $(#[$when])* async fn $case() -> super::Result {
                let (_kept, url) = super::$store();
                super::$case(&url).await
            })*
        }
    };
}

on_every_store! {
    items_come_in_order_with_their_labels_and_terms
    many_are_pushed_and_popped_at_once
    a_popper_of_another_connection_is_called_for_an_item
    a_delayed_item_comes_when_it_is_due_and_not_before
    a_timeout_leaves_the_line
    a_pop_dropped_after_any_number_of_polls_leaves_nothing_behind
    bad_input_is_refused_before_anything_is_sent
    a_payload_of_a_mebibyte_goes_through
    an_item_that_fails_comes_again_and_dies_after_its_last_delivery
    an_item_that_is_dropped_has_failed_and_one_given_back_has_not
    a_cancelled_item_is_lost_by_its_worker_at_once
    an_item_is_renewed_while_it_is_in_hand
    items_of_a_closed_connection_go_back
    limits_pauses_and_groups_are_kept
    queues_are_listed_by_prefix_and_apart_from_semaphores
    a_worker_works_on_everything_and_says_what_became_of_it
    an_item_is_given_back_through_any_error_type
    a_dead_letter_has_the_sources_of_its_error
    a_worker_never_has_more_in_hand_than_it_may
    a_worker_that_is_shut_down_gives_back_what_it_cannot_finish
    an_item_that_its_handler_has_ended_counts_by_that_end_after_the_grace
    a_shutdown_ends_handlers_that_go_on_after_the_queue_is_empty
    an_item_that_was_lost_counts_as_lost_after_the_grace
    a_handler_is_dropped_when_its_delivery_is_lost
    a_worker_that_is_told_so_runs_on_when_its_delivery_is_lost
    a_thousand_tasks_pop_from_one_connection
    programs_without_a_runtime_push_and_pop
    a_spread_queue_keeps_a_group_together_and_all_its_parts_are_worked_on
    #[cfg(feature = "serde")]
    a_value_travels_as_json
}
