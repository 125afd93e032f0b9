//! The Redis scripts of queues are compared with their ledger, operation by operation, on random
//! histories on a real server with a clock of the test's own. A history with a difference is made
//! as short as possible and printed.

#[path = "queue_differential/bench.rs"]
mod bench;
#[path = "support/queue_history.rs"]
mod queue_history;

#[path = "queue_differential/made.rs"]
mod made;
#[path = "queue_differential/mistakes.rs"]
mod mistakes;
#[path = "queue_differential/model.rs"]
mod model;
#[path = "queue_differential/strange.rs"]
mod strange;

use bench::{Bench, everything};
use queue_history::{
    CROWDED, Event, LARGE, LONE, PLAIN, SMALL, Scale, Seen, Sketch, Turn, history, inbox,
};
use seinpaal_proto::{
    Priority,
    queue::{Due, Push},
    time::SECOND,
};
use seinpaal_rig::RedisServer;

/// As many histories as CI has time for. Set the variable to look further.
fn histories() -> u64 {
    std::env::var("SEINPAAL_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

async fn compare_many(seeds: std::ops::Range<u64>, scale: Scale) {
    compare_many_on(&mut Bench::new(None).await, seeds, scale).await;
}

async fn compare_many_on(bench: &mut Bench, seeds: std::ops::Range<u64>, scale: Scale) {
    for seed in seeds {
        let history = history(seed, scale);
        if bench.difference(&history).await.is_some() {
            let short = bench.shorten(history).await;
            let difference = bench.difference(&short).await.unwrap_or_default();
            panic!(
                "seed {seed}, {scale:?}: the script differs from the ledger\n{short:#?}\n{difference}"
            );
        }
    }
}

#[tokio::test]
async fn the_scripts_of_queues_do_what_their_ledger_does() {
    compare_many(0..histories(), SMALL).await;
}

#[tokio::test]
async fn what_goes_on_all_the_time_is_done_as_the_ledger_does_it() {
    compare_many(0..histories(), PLAIN).await;
}

#[tokio::test]
async fn what_goes_on_one_at_a_time_is_done_as_the_ledger_does_it() {
    compare_many(0..histories(), LONE).await;
}

#[tokio::test]
async fn the_scripts_of_queues_do_what_their_ledger_does_on_a_server_that_sorts_words() {
    let mut bench = Bench::on(RedisServer::of_a_language(), None).await;
    for scale in [SMALL, PLAIN, LONE] {
        compare_many_on(&mut bench, 0..histories() / 2, scale).await;
    }
}

#[tokio::test]
async fn the_scripts_of_queues_stop_where_the_ledger_does_when_there_is_too_much_to_do() {
    compare_many(0..histories() / 4, LARGE).await;
}

#[tokio::test]
async fn histories_of_what_goes_on_all_the_time_list_items_in_work_behind_the_head() {
    for scale in [PLAIN, LONE, CROWDED] {
        let mut bench = Bench::new(None).await;
        compare_many_on(&mut bench, 0..20, scale).await;
        let (listed, calls) = (bench.listed, 20 * scale.events);
        println!("{scale:?}: listed after {listed} of {calls} calls, full after {}", bench.filled);
        assert!(50 * listed > calls, "after {listed} of {calls}");
        assert_eq!(bench.filled > 0, scale.most_items == 64, "full after {}", bench.filled);
    }
}

#[tokio::test]
async fn what_goes_on_with_more_in_work_than_is_listed_is_done_as_the_ledger_does_it() {
    compare_many(0..histories() / 4, CROWDED).await;
}

fn one_call(step: i64, sketches: Vec<Sketch>) -> Event {
    let (session, turn) = (inbox(1), Turn::Next(10 * SECOND as i64));
    Event::Call { step, session, turn, seen: Seen::None, sketches }
}

fn a_push() -> Push {
    Push {
        payload: b"x".to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1,
        about: String::new(),
    }
}

#[tokio::test]
async fn what_is_popped_at_once_has_no_more_payload_than_an_answer_may() {
    let push = |seed: u8| Push {
        payload: vec![seed; 900_000],
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1,
        about: String::new(),
    };
    let call = |sketches| Event::Call {
        step: 1,
        session: inbox(1),
        turn: Turn::Next(SECOND as i64),
        seen: Seen::None,
        sketches,
    };
    let mut history = (0..6).map(|i| call(vec![Sketch::Push(push(i))])).collect::<Vec<_>>();
    history.push(call(vec![Sketch::Pop(everything()), Sketch::Pop(everything())]));
    let mut bench = Bench::new(None).await;
    assert_eq!(bench.difference(&history).await, None);
}
