//! The straight path refuses what no client of ours sends, and so does the rest of the script.

use seinpaal_proto::time::SECOND;

use super::{
    Event, Seen, Sketch, Turn, a_push,
    bench::{Bench, START},
    inbox,
};

const UNBOUNDED: f64 = 9_007_199_254_740_992.0;

/// The first argument of a call: what the scripts read as `START` (`queue/forms.lua`), and then the
/// requests.
fn line(numbers: [f64; 3], requests: &[u8]) -> Vec<u8> {
    let numbers = [START as f64 + 5.0, numbers[0], numbers[1], numbers[2]];
    let session = format!("s{}", inbox(1));
    [&numbers.map(f64::to_le_bytes).concat(), session.as_bytes(), requests].concat()
}

fn push(numbers: [f64; 3], priority: i8, most: u32, about: &str) -> Vec<u8> {
    line(numbers, &a_push_of(priority, most, about))
}

fn a_push_of(priority: i8, most: u32, about: &str) -> Vec<u8> {
    let kind = [1, priority.to_le_bytes()[0]];
    let length = (about.len() as u32).to_le_bytes();
    [&kind[..], &most.to_le_bytes(), &length, about.as_bytes()].concat()
}

fn pop(items: u8, ttl: f64, margin: f64, about: &str) -> Vec<u8> {
    let terms = [ttl, margin].map(f64::to_le_bytes).concat();
    let length = (about.len() as u32).to_le_bytes();
    line(next(), &[&[3, items][..], &terms, &[0, 0], &length, about.as_bytes()].concat())
}

/// A renewal of the delivery that `answer` has put in work.
fn renewal(ttl: f64, margin: f64) -> Vec<u8> {
    let terms = [ttl, margin].map(f64::to_le_bytes).concat();
    let delivery = [START + 1, START + 6].map(u64::to_be_bytes).concat();
    line(next(), &[&[4][..], &terms, &16_u32.to_le_bytes(), &delivery].concat())
}

/// A renewal of more deliveries than a session sends, all of them the same.
fn too_large_a_renewal() -> Vec<u8> {
    let terms = [SECOND as f64, 0.0].map(f64::to_le_bytes).concat();
    let delivery = [START + 1, START + 6].map(u64::to_be_bytes).concat().repeat(501);
    let length = (delivery.len() as u32).to_le_bytes();
    line(next(), &[&[4][..], &terms, &length, &delivery].concat())
}

/// The number of the next batch, its deadline, and nothing seen.
fn next() -> [f64; 3] {
    [2e6, START as f64 + 1e7, 0.0]
}

/// A piece of the script, and its replacement.
type Mistake = (&'static str, &'static str);

/// Requests, each with the mistake that would let it through.
fn pushes() -> Vec<(Vec<Vec<u8>>, Mistake)> {
    let payload = || b"x".to_vec();
    let [number, till, _] = next();
    let long = "x".repeat(4097);
    let many = a_push_of(0, 3, "").repeat(65);
    let payloads = std::iter::repeat_with(payload).take(65);
    vec![
        (
            vec![push(next(), 0, 3, &long), payload()],
            (" and #about <= MOST_TEXT\n        and", " and"),
        ),
        (vec![push(next(), 101, 3, ""), payload()], ("and priority <= 100 and", "and")),
        (vec![push(next(), -101, 3, ""), payload()], (" and priority >= -100 ", "\n")),
        (vec![push(next(), 0, 0, ""), payload()], ("and most >= 1\n        and", "and")),
        (vec![push(next(), 0, 1_000_001, ""), payload()], (" and most <= MOST_DELIVERIES\n", "\n")),
        (
            vec![push(next(), 0, 3, ""), vec![0; 1_048_577]],
            ("and #payload <= MOST_BYTES and", "and"),
        ),
        (
            vec![push([2.0 * UNBOUNDED, till, 0.0], 0, 3, ""), payload()],
            ("or number > UNBOUNDED", ""),
        ),
        (
            vec![push([number, 2.0 * UNBOUNDED, 0.0], 0, 3, ""), payload()],
            ("or not_after > UNBOUNDED", ""),
        ),
        (
            vec![push([number, till, f64::NAN], 0, 3, ""), payload()],
            ("if not (seen <= MOST_SEEN)", "if seen > MOST_SEEN"),
        ),
        (
            [line(next(), &many)].into_iter().chain(payloads).collect(),
            ("and pushed < MOST_ITEMS and", "and"),
        ),
    ]
}

fn pops_and_renewals() -> Vec<(Vec<Vec<u8>>, Mistake)> {
    let (ttl, long) = (SECOND as f64, "x".repeat(4097));
    let of_a_pop = |least, most, margin| {
        [
            (vec![pop(1, 1.0, 0.0, "")], least),
            (vec![pop(1, 1e12, 0.0, "")], most),
            (vec![pop(1, ttl, -1.0, "")], margin),
        ]
    };
    let of_a_renewal = |least, most, margin| {
        [
            (vec![renewal(1.0, 0.0)], least),
            (vec![renewal(1e12, 0.0)], most),
            (vec![renewal(ttl, -1.0)], margin),
        ]
    };
    let mut requests = vec![
        (vec![pop(0, ttl, 0.0, "")], ("or items < 1 or", "or")),
        (vec![pop(65, ttl, 0.0, "")], ("or items > MOST_ITEMS\n        or", "or")),
        (vec![pop(1, ttl, 0.0, &long)], (" or #about > MOST_TEXT then", " then")),
        (vec![too_large_a_renewal()], ("0, MOST_RENEWED, 'the number", "0, 501, 'the number")),
    ];
    requests.extend(of_a_pop(
        ("MOST_ITEMS\n        or not (ttl >= MIN_TTL and ttl", "MOST_ITEMS\n        or not (ttl"),
        ("ttl <= MAX_TTL and margin >= 0) or #about", "margin >= 0) or #about"),
        (" and margin >= 0) or #about", ") or #about"),
    ));
    requests.extend(of_a_renewal(
        ("if not ok or not (ttl >= MIN_TTL and ttl", "if not ok or not (ttl"),
        ("ttl <= MAX_TTL and margin >= 0) then", "margin >= 0) then"),
        (" and margin >= 0) then", ") then"),
    ));
    requests
}

/// Answers to these arguments at a queue in a plain state, with an item, one in work, and a session
/// that is known.
async fn answer(
    bench: &mut Bench,
    arguments: &[Vec<u8>],
) -> Result<redis::Value, redis::RedisError> {
    let (session, turn, sketches) =
        (inbox(1), Turn::Next(SECOND as i64), vec![Sketch::Push(a_push())]);
    let event = Event::Call { step: 1, session, turn, seen: Seen::None, sketches };
    assert!(bench.run(&[event]).await.is_ok());
    let [number, till, seen] = next();
    let ready = [push([number - 2.0, till, seen], 0, 3, ""), b"x".to_vec()];
    bench.evaluate(&ready).await.expect("it is as it should be");
    let mut in_work = pop(1, SECOND as f64, UNBOUNDED, "");
    in_work[8..16].copy_from_slice(&(number - 1.0).to_le_bytes());
    bench.evaluate(&[in_work]).await.expect("it is as it should be");
    bench.evaluate(arguments).await
}

#[tokio::test]
async fn what_no_client_sends_is_refused_and_would_be_done_if_nobody_looked() {
    for (arguments, mistake) in pushes().into_iter().chain(pops_and_renewals()) {
        let refused = answer(&mut Bench::new(None).await, &arguments).await;
        let refused = refused.expect_err("it is refused").to_string();
        assert!(refused.contains("SEINPAALARGUMENT"), "{mistake:?}: {refused}");
        let done = answer(&mut Bench::new(Some(mistake)).await, &arguments).await;
        assert!(done.is_ok(), "{mistake:?}: {done:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_cut_short_is_refused() {
    let mut bench = Bench::new(None).await;
    for kind in 0..=7 {
        let cut = line(next(), &[kind, b'x', b'x']);
        let refused = answer(&mut bench, &[cut]).await.expect_err("it is refused").to_string();
        assert!(refused.contains("SEINPAALARGUMENT"), "{kind}: {refused}");
    }
    let whole = line(next(), &[]);
    for cut in [&whole[..64], &[]] {
        let refused = answer(&mut bench, &[cut.to_vec()]).await.expect_err("it is refused");
        assert!(refused.to_string().contains("SEINPAALARGUMENT"), "{refused}");
    }
    let without_payload = push(next(), 0, 3, "");
    let refused = answer(&mut bench, &[without_payload]).await.expect_err("it is refused");
    assert!(refused.to_string().contains("SEINPAALARGUMENT"), "{refused}");
}
