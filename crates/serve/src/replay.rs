//! Gives the same key the same answer. So a client that got no answer can repeat its request, and
//! still gets only one permit, or pushes an item only once.

mod known;

use axum::http::HeaderMap;
use serde::Serialize;

use crate::{json_text::JsonText, problem::Problem, tokens::TokenNumber};
pub(crate) use known::ReplayedAnswers;
use known::{Question, digest};

/// The longest key, in bytes.
const MOST_KEY: usize = 200;

impl ReplayedAnswers {
    /// Returns the answer to a request. Without a key, the answer is always a new one.
    ///
    /// `wait` is dropped if the connection ends, and must leave nothing behind then. `make` gets
    /// the result of `wait`. With a key, `make` runs to its end even if the client leaves. So a
    /// repeated request finds the answer later, and does nothing twice.
    pub(crate) async fn once<T, F>(
        &self,
        token: Option<TokenNumber>,
        headers: &HeaderMap,
        what: String,
        body: &impl Serialize,
        wait: impl Future<Output = Result<T, Problem>>,
        make: impl FnOnce(T) -> F,
    ) -> Result<JsonText, Problem>
    where
        F: Future<Output = Result<JsonText, Problem>> + Send + 'static,
    {
        let Some(key) = key(headers)? else { return make(wait.await?).await };
        self.answer(Question { token, what, key }, digest(body), wait, make).await
    }

    /// Returns the answer to this question: the earlier answer, the answer that another request
    /// with the same key is making, or a new one.
    async fn answer<T, F>(
        &self,
        question: Question,
        body: [u8; 32],
        wait: impl Future<Output = Result<T, Problem>>,
        make: impl FnOnce(T) -> F,
    ) -> Result<JsonText, Problem>
    where
        F: Future<Output = Result<JsonText, Problem>> + Send + 'static,
    {
        let claim = self.claim(question, body)?;
        let mut answer = claim.answer().lock_owned().await;
        if let Some(known) = &*answer {
            return known.clone();
        }
        let making = make(wait.await?);
        let made = tokio::spawn(async move {
            let made = making.await;
            if is_final(&made) {
                *answer = Some(claim.keep(made.clone()));
            }
            made
        });
        let broke = |_| Err(Problem::unknown("this program broke off; look whether it was done"));
        made.await.unwrap_or_else(broke)
    }
}

/// Returns whether each later request with the same key gets this answer. If the outcome is
/// unknown, it does, because a new try could do the work twice. After any other problem the next
/// request tries again, because nothing was done.
fn is_final(made: &Result<JsonText, Problem>) -> bool {
    made.as_ref().err().is_none_or(Problem::is_unknown)
}

/// Returns the key of a request, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| !text.is_empty() && text.len() <= MOST_KEY);
    let bad = || Problem::bad("an Idempotency-Key has 1 to 200 printable characters");
    text.map(|text| Some(text.to_owned())).ok_or_else(bad)
}

#[cfg(test)]
mod tests;
