//! The straight path refuses what no client of ours sends, and so does the rest of the script.

use seinpaal_proto::time::SECOND;

use super::{
    Ask, Event, Seen, Turn, a_push,
    bench::{Bench, START},
    inbox,
};

const UNBOUNDED: f64 = 9_007_199_254_740_992.0;

/// A line as `lean.lua` says.
fn line(operation: u8, numbers: [f64; 3], terms: &[u8]) -> Vec<u8> {
    let mut line = vec![operation];
    line.extend(
        [START as f64 + 5.0, numbers[0], numbers[1], numbers[2]].map(f64::to_le_bytes).concat(),
    );
    line.extend(format!("s{}", inbox(1)).bytes());
    line.extend(terms);
    line
}

fn push(numbers: [f64; 3], priority: i8, most: u32, about: &str) -> Vec<u8> {
    let terms = [&priority.to_le_bytes()[..], &most.to_le_bytes(), about.as_bytes()].concat();
    line(1, numbers, &terms)
}

fn pop(ttl: f64, margin: f64) -> Vec<u8> {
    let terms = [&ttl.to_le_bytes()[..], &margin.to_le_bytes(), &[0, 0]].concat();
    line(2, next(), &terms)
}

/// The number of the next batch, its deadline, and nothing seen.
fn next() -> [f64; 3] {
    [2e6, START as f64 + 1e7, 0.0]
}

/// A piece of the script, and its replacement.
type Mistake = (&'static str, &'static str);

/// Requests, each with the mistake that would let it through.
fn requests() -> Vec<(Vec<Vec<u8>>, Mistake)> {
    let payload = || b"x".to_vec();
    let [number, till, _] = next();
    let long = "x".repeat(4097);
    let ttl = SECOND as f64;
    let not_a_number = f64::NAN;
    vec![
        (vec![push(next(), 0, 3, &long), payload()], ("size > MOST_TEXT", "false")),
        (vec![push(next(), 101, 3, ""), payload()], ("or priority > 100 or", "or")),
        (vec![push(next(), -101, 3, ""), payload()], ("or priority < -100 or", "or")),
        (vec![push(next(), 0, 0, ""), payload()], ("or most < 1 or", "or")),
        (vec![push(next(), 0, 1_000_001, ""), payload()], ("or most > MOST_DELIVERIES", "")),
        (vec![push(next(), 0, 3, ""), vec![0; 1_048_577]], ("or #payload > MOST_BYTES", "")),
        (
            vec![push([2.0 * UNBOUNDED, till, 0.0], 0, 3, ""), payload()],
            ("or number > UNBOUNDED", ""),
        ),
        (
            vec![push([number, 2.0 * UNBOUNDED, 0.0], 0, 3, ""), payload()],
            ("or not_after > UNBOUNDED", ""),
        ),
        (
            vec![push([number, till, not_a_number], 0, 3, ""), payload()],
            ("if not (seen <= MOST_SEEN)", "if seen > MOST_SEEN"),
        ),
        (vec![pop(1.0, 0.0)], ("ttl >= MIN_TTL and", "")),
        (vec![pop(1e12, 0.0)], ("ttl <= MAX_TTL and", "")),
        (vec![pop(ttl, -1.0)], (" and margin >= 0)", ")")),
    ]
}

/// Answers to these arguments at a queue in a plain state, with an item and a session that is known.
async fn answer(
    bench: &mut Bench,
    arguments: &[Vec<u8>],
) -> Result<redis::Value, redis::RedisError> {
    let (session, turn, asks) = (inbox(1), Turn::Next(SECOND as i64), vec![Ask::Push(a_push())]);
    let event = Event::Call { step: 1, session, turn, seen: Seen::None, asks };
    assert_eq!(bench.difference(&[event]).await, None);
    let [number, till, seen] = next();
    let ready = [push([number - 1.0, till, seen], 0, 3, ""), b"x".to_vec()];
    bench.evaluate(&ready).await.expect("it is as it should be");
    bench.evaluate(arguments).await
}

#[tokio::test]
async fn what_no_client_sends_is_refused_and_would_be_done_if_nobody_looked() {
    for (arguments, mistake) in requests() {
        let refused = answer(&mut Bench::new(None).await, &arguments).await;
        let refused = refused.expect_err("it is refused").to_string();
        assert!(refused.contains("SEINPAALARGUMENT"), "{mistake:?}: {refused}");
        let done = answer(&mut Bench::new(Some(mistake)).await, &arguments).await;
        assert!(done.is_ok(), "{mistake:?}: {done:?}");
    }
}

#[tokio::test]
async fn a_lone_request_that_is_cut_short_is_refused() {
    let mut bench = Bench::new(None).await;
    for operation in 1..=4 {
        let cut = line(operation, next(), b"xx");
        let refused = answer(&mut bench, &[cut]).await.expect_err("it is refused").to_string();
        assert!(refused.contains("SEINPAALARGUMENT"), "{refused}");
    }
    let without_payload = push(next(), 0, 3, "");
    let refused = answer(&mut bench, &[without_payload]).await.expect_err("it is refused");
    assert!(refused.to_string().contains("SEINPAALARGUMENT"), "{refused}");
}
