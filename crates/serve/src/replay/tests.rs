use std::future::{pending, ready};

use futures_util::FutureExt;
use tokio::{
    join,
    time::{Duration, sleep},
};

use super::{known::*, *};

const MINUTE: Duration = Duration::from_secs(60);

/// Asks with a key. Unless the answer is known, the request waits for `wait` and then answers
/// `made`.
async fn ask_after(
    all: &ReplayedAnswers,
    wait: impl Future<Output = ()>,
    made: Result<u32, Problem>,
) -> Result<JsonText, Problem> {
    let headers = [("idempotency-key", "k")];
    let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let headers = HeaderMap::from_iter(headers);
    let make = |()| ready(made.and_then(|made| JsonText::of(&made)));
    let wait = wait.map(Ok);
    all.once(None, &headers, String::new(), &(), wait, make).await
}

async fn ask(all: &ReplayedAnswers, made: Result<u32, Problem>) -> Result<JsonText, Problem> {
    ask_after(all, ready(()), made).await
}

fn is(answer: Result<JsonText, Problem>, made: u32) -> bool {
    answer.ok() == JsonText::of(&made).ok()
}

/// Returns the number of known keys, and the bytes of their answers.
fn known(all: &ReplayedAnswers) -> (usize, usize) {
    let keys = all.lock();
    (keys.all.len(), keys.bytes)
}

#[tokio::test]
async fn after_a_problem_the_key_is_forgotten_and_the_same_key_tries_again() {
    let all = ReplayedAnswers::default();
    assert!(ask(&all, Err(Problem::unavailable("away"))).await.is_err());
    assert_eq!(known(&all), (0, 0));
    assert!(is(ask(&all, Ok(1)).await, 1));
    assert!(is(ask(&all, Ok(2)).await, 1));
}

/// A second try could push a second item.
#[tokio::test]
async fn what_may_have_been_done_is_not_tried_again_for_the_same_key() {
    let all = ReplayedAnswers::default();
    for made in [Err(Problem::unknown("no answer came")), Ok(1)] {
        assert!(ask(&all, made).await.is_err_and(|problem| problem.is_unknown()));
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_it_waits_leaves_no_key() {
    let all = ReplayedAnswers::default();
    assert!(ask_after(&all, pending(), Ok(1)).now_or_never().is_none());
    assert_eq!(known(&all), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_forgotten_ten_minutes_later_though_nobody_asks() {
    let all = ReplayedAnswers::default();
    assert!(is(ask(&all, Ok(1)).await, 1));
    sleep(KEPT - MINUTE).await;
    assert!(is(ask(&all, Ok(2)).await, 1));
    assert_eq!(known(&all), (1, 1));
    sleep(2 * MINUTE).await;
    assert_eq!(known(&all), (0, 0));
    assert!(is(ask(&all, Ok(2)).await, 2));
}

/// The ten minutes begin with the answer.
#[tokio::test(start_paused = true)]
async fn the_same_key_joins_a_request_that_has_waited_for_longer_than_answers_are_kept() {
    let all = ReplayedAnswers::default();
    let later = sleep(2 * KEPT).then(|()| ask(&all, Ok(2)));
    let (first, second) = join!(ask_after(&all, sleep(3 * KEPT), Ok(1)), later);
    assert!(is(first, 1) && is(second, 1));
}

/// Otherwise a worker that pops large items would shut out all other programs. A new try could take
/// other items.
#[tokio::test(start_paused = true)]
async fn an_answer_that_would_be_too_many_bytes_is_given_once_and_shuts_no_other_key_out() {
    let all = ReplayedAnswers::default();
    all.lock().bytes = MOST_BYTES - 1;
    assert!(is(ask(&all, Ok(10)).await, 10), "it has two bytes");
    assert!(ask(&all, Ok(1)).await.is_err_and(|problem| problem.is_unknown()));
    let other = Question { token: None, what: String::new(), key: "other".to_owned() };
    assert!(all.claim(other, digest(&())).is_ok());
    sleep(KEPT + MINUTE).await;
    assert_eq!(known(&all), (0, MOST_BYTES - 1));
    assert!(is(ask(&all, Ok(1)).await, 1), "it has one byte");
    assert_eq!(known(&all), (1, MOST_BYTES));
}
