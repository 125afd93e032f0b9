use std::future::ready;

use super::*;

/// Asks with a key. The work makes this, unless the answer is known.
async fn ask(all: &ReplayedAnswers, made: Result<u32, Problem>) -> Result<Value, Problem> {
    let headers = [("idempotency-key", "k")];
    let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let headers = HeaderMap::from_iter(headers);
    let make = |()| ready(made.map(Value::from));
    all.once(String::new(), &headers, String::new(), &(), ready(Ok(())), make).await
}

#[tokio::test]
async fn after_a_problem_the_same_key_tries_again() {
    let all = ReplayedAnswers::default();
    assert!(ask(&all, Err(Problem::unavailable("away"))).await.is_err());
    assert_eq!(ask(&all, Ok(1)).await.ok(), Some(1.into()));
    assert_eq!(ask(&all, Ok(2)).await.ok(), Some(1.into()));
}

/// To try again could push a second item.
#[tokio::test]
async fn what_may_have_been_done_is_not_tried_again_for_the_same_key() {
    let all = ReplayedAnswers::default();
    for made in [Err(Problem::unknown("no answer came")), Ok(1)] {
        assert!(ask(&all, made).await.is_err_and(|problem| problem.is_unknown()));
    }
}
