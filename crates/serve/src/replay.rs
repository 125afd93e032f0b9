//! Gives the same key the same answer, so that a client that got no answer can repeat its request
//! and has one permit, or pushes an item once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::Value;
use tokio::sync;

use crate::problem::Problem;

/// For how long an answer is kept.
const KEPT: Duration = Duration::from_secs(600);
/// How many answers are kept.
const MOST: usize = 10_000;
/// The longest key, in bytes.
const MOST_KEY: usize = 200;

/// Answers by what was asked: by whom, where, with which key.
#[derive(Default)]
pub(crate) struct ReplayedAnswers(Mutex<HashMap<Question, KeptAnswer>>);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Question {
    who: String,
    what: String,
    key: String,
    /// The body of the request. Another body under the same key is a mistake of the client.
    body: String,
}

struct KeptAnswer {
    since: Instant,
    body: String,
    answer: Answer,
}

/// The answer, once there is one. Whoever makes it has the lock meanwhile.
type Answer = Arc<sync::Mutex<Option<Result<Value, Problem>>>>;

impl ReplayedAnswers {
    /// The answer to a request. Without a key it is made in any case.
    ///
    /// `wait` ends with the connection, and must leave nothing behind then. `make` gets what `wait`
    /// has brought. With a key, `make` is carried through even if the client leaves, so the same
    /// request finds its answer later and does nothing twice.
    pub(crate) async fn once<T, F>(
        &self,
        who: String,
        headers: &HeaderMap,
        what: String,
        body: &impl Serialize,
        wait: impl Future<Output = Result<T, Problem>>,
        make: impl FnOnce(T) -> F,
    ) -> Result<Value, Problem>
    where
        F: Future<Output = Result<Value, Problem>> + Send + 'static,
    {
        let Some(key) = key(headers)? else { return make(wait.await?).await };
        // Only maps with other keys than text cannot be written, and there are none here.
        let body = serde_json::to_string(body).unwrap_or_default();
        self.answer(Question { who, what, key, body }, wait, make).await
    }

    /// The answer to this question: the one that was given before, the one that another request
    /// with the same key is making, or a new one.
    async fn answer<T, F>(
        &self,
        question: Question,
        wait: impl Future<Output = Result<T, Problem>>,
        make: impl FnOnce(T) -> F,
    ) -> Result<Value, Problem>
    where
        F: Future<Output = Result<Value, Problem>> + Send + 'static,
    {
        let mut answer = self.cell(question)?.lock_owned().await;
        if let Some(known) = &*answer {
            return known.clone();
        }
        let making = make(wait.await?);
        let made = tokio::spawn(async move {
            let made = making.await;
            if is_final(&made) {
                *answer = Some(made.clone());
            }
            made
        });
        let broke = |_| Err(Problem::unknown("this program broke off; look whether it was done"));
        made.await.unwrap_or_else(broke)
    }

    fn cell(&self, question: Question) -> Result<Answer, Problem> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Old answers are thrown away only when there is no more room, which takes one pass for
        // thousands of requests.
        if all.len() >= MOST {
            all.retain(|_, kept| kept.since.elapsed() < KEPT);
        }
        let body = question.body.clone();
        // The body is no part of the question, because the same key with another body has to be
        // found, and refused.
        let question = Question { body: String::new(), ..question };
        let is_known = all.get(&question).is_some_and(|kept| kept.since.elapsed() < KEPT);
        if !is_known {
            if all.len() >= MOST {
                return Err(Problem::unavailable("too many keys are in use; ask again later"));
            }
            let answer = Arc::default();
            all.insert(
                question.clone(),
                KeptAnswer { since: Instant::now(), body: body.clone(), answer },
            );
        }
        let kept = &all[&question];
        if kept.body != body {
            let words = "this Idempotency-Key was sent before with another body; take a new one";
            return Err(Problem::new(StatusCode::CONFLICT, "key in use", words));
        }
        Ok(Arc::clone(&kept.answer))
    }
}

/// Returns whether this is the answer to each later request with the same key. After another
/// problem the next request tries again, because nothing was done. If nobody knows whether it was
/// done, to try again could do it twice.
fn is_final(made: &Result<Value, Problem>) -> bool {
    made.as_ref().err().is_none_or(Problem::is_unknown)
}

/// The key of a request, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| !text.is_empty() && text.len() <= MOST_KEY);
    let bad = || Problem::bad("an Idempotency-Key has 1 to 200 printable characters");
    text.map(|text| Some(text.to_owned())).ok_or_else(bad)
}

#[cfg(test)]
mod tests;
