//! The known keys with their answers.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::StatusCode;
use ring::digest::{Context, SHA256};
use serde::Serialize;
use tokio::{sync, time::sleep};

use crate::{json_text::JsonText, problem::Problem, tokens::TokenNumber};

/// How long an answer is kept.
pub(super) const KEPT: Duration = Duration::from_secs(600);
/// The largest number of known keys.
const MOST: usize = 10_000;
/// The largest number of bytes of all kept answers together. An answer to `pop` contains the
/// payloads of its items.
pub(super) const MOST_BYTES: usize = 256 * 1024 * 1024;

/// The answers by their questions. A question is a token, an address and a key.
#[derive(Clone, Default)]
pub(crate) struct ReplayedAnswers(Arc<Mutex<KnownKeys>>);

#[derive(Default)]
pub(super) struct KnownKeys {
    pub(super) all: HashMap<Question, KnownKey>,
    /// The bytes of all answers together.
    pub(super) bytes: usize,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Question {
    /// Two clients whose tokens have the same name, or none, may have the same key by chance.
    pub(super) token: Option<TokenNumber>,
    pub(super) what: String,
    pub(super) key: String,
}

pub(super) struct KnownKey {
    /// The digest of the request's body. Another body under the same key is a mistake of the
    /// client.
    body: [u8; 32],
    answer: KeyedAnswer,
    is_answered: bool,
    /// How many requests are waiting for the answer or making it. If there is no such request and
    /// no answer, the key is forgotten.
    claims: usize,
}

/// The answer, once there is one. The request that makes the answer holds the lock meanwhile.
type KeyedAnswer = Arc<sync::Mutex<Option<Result<JsonText, Problem>>>>;

impl ReplayedAnswers {
    pub(super) fn lock(&self) -> MutexGuard<'_, KnownKeys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes part in the answer to a question.
    pub(super) fn claim(&self, question: Question, body: [u8; 32]) -> Result<KeyClaim, Problem> {
        let mut keys = self.lock();
        if !keys.all.contains_key(&question) {
            if keys.all.len() >= MOST {
                return Err(Problem::unavailable("too many keys are in use; ask again later"));
            }
            let known = KnownKey { body, answer: Arc::default(), is_answered: false, claims: 0 };
            keys.all.insert(question.clone(), known);
        }
        let known = keys.all.get_mut(&question).filter(|known| known.body == body);
        let Some(known) = known else {
            let words = "this Idempotency-Key was sent before with another body; take a new one";
            return Err(Problem::new(StatusCode::CONFLICT, "key in use", words));
        };
        known.claims += 1;
        Ok(KeyClaim { of: self.clone(), question, answer: Arc::clone(&known.answer) })
    }

    /// Forgets an answer.
    fn forget(&self, question: &Question, bytes: usize) {
        let mut keys = self.lock();
        keys.all.remove(question);
        keys.bytes -= bytes;
    }
}

/// A part in the answer to a question.
pub(super) struct KeyClaim {
    of: ReplayedAnswers,
    question: Question,
    answer: KeyedAnswer,
}

impl KeyClaim {
    pub(super) fn answer(&self) -> KeyedAnswer {
        Arc::clone(&self.answer)
    }

    /// Keeps the answer for a while, and returns it. Where it would be too many bytes together with
    /// the others, keeps and returns a problem in its place. A new try could take more items, so
    /// the key is kept all the same.
    pub(super) fn keep(&self, made: Result<JsonText, Problem>) -> Result<JsonText, Problem> {
        let mut keys = self.of.lock();
        let bytes = made.as_ref().map_or(0, JsonText::bytes);
        let has_room = bytes <= MOST_BYTES.saturating_sub(keys.bytes);
        let (made, bytes) = if has_room { (made, bytes) } else { (Err(not_kept()), 0) };
        keys.bytes += bytes;
        if let Some(known) = keys.all.get_mut(&self.question) {
            known.is_answered = true;
        }
        let (of, question) = (Arc::downgrade(&self.of.0), self.question.clone());
        tokio::spawn(async move {
            sleep(KEPT).await;
            // `None`: the pages are no longer served.
            if let Some(of) = of.upgrade() {
                ReplayedAnswers(of).forget(&question, bytes);
            }
        });
        made
    }
}

/// The answer to a repeated request whose first answer was not kept.
fn not_kept() -> Problem {
    Problem::unknown(
        "the first answer to this key was too large to be kept; items that it had are delivered \
         again when their leases end",
    )
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        let mut keys = self.of.lock();
        // The answer may have been forgotten meanwhile, and the key may belong to a new request.
        let is_ours = |known: &&mut KnownKey| Arc::ptr_eq(&known.answer, &self.answer);
        if let Some(known) = keys.all.get_mut(&self.question).filter(is_ours) {
            known.claims -= 1;
            if known.claims == 0 && !known.is_answered {
                keys.all.remove(&self.question);
            }
        }
    }
}

/// Returns the SHA-256 of a body. It stands for the body, because nobody can find two bodies with
/// the same digest. The library for it is there already, because rustls uses it.
pub(super) fn digest(body: &impl Serialize) -> [u8; 32] {
    let mut digest = Digest(Context::new(&SHA256));
    // Writing JSON fails only for maps whose keys are not text, and there are none here.
    let _ = serde_json::to_writer(&mut digest, body);
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.0.finish().as_ref());
    bytes
}

struct Digest(Context);

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
