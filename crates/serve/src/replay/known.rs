//! The keys that are known, and for how long.

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

/// For how long an answer is kept.
pub(super) const KEPT: Duration = Duration::from_secs(600);
/// How many keys are known at most.
const MOST: usize = 10_000;
/// If the answers that are kept have so many bytes together, no new key is taken. An answer to
/// `pop` has the payloads of its items in it.
pub(super) const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Answers by what was asked: with which token, where, with which key.
#[derive(Clone, Default)]
pub(crate) struct ReplayedAnswers(Arc<Mutex<KnownKeys>>);

#[derive(Default)]
pub(super) struct KnownKeys {
    pub(super) all: HashMap<Question, KnownKey>,
    /// Of the answers.
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
    /// How many requests are waiting for the answer or making it. If there are none, and no answer,
    /// the key is forgotten.
    claims: usize,
}

/// The answer, once there is one. Whoever makes it has the lock meanwhile.
type KeyedAnswer = Arc<sync::Mutex<Option<Result<JsonText, Problem>>>>;

impl ReplayedAnswers {
    pub(super) fn lock(&self) -> MutexGuard<'_, KnownKeys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes part in the answer to a question.
    pub(super) fn claim(&self, question: Question, body: [u8; 32]) -> Result<KeyClaim, Problem> {
        let mut keys = self.lock();
        if !keys.all.contains_key(&question) {
            if keys.all.len() >= MOST || keys.bytes >= MOST_BYTES {
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

    /// Keeps the answer, which has so many bytes, for a while.
    pub(super) fn keep(&self, bytes: usize) {
        let mut keys = self.of.lock();
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
    }
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        let mut keys = self.of.lock();
        // The answer may have been forgotten meanwhile, and the key may stand for a new request.
        let is_ours = |known: &&mut KnownKey| Arc::ptr_eq(&known.answer, &self.answer);
        if let Some(known) = keys.all.get_mut(&self.question).filter(is_ours) {
            known.claims -= 1;
            if known.claims == 0 && !known.is_answered {
                keys.all.remove(&self.question);
            }
        }
    }
}

/// The SHA-256 of a body, which stands for the body: nobody can find two bodies with the same one.
/// The library is there in any case, below rustls.
pub(super) fn digest(body: &impl Serialize) -> [u8; 32] {
    let mut digest = Digest(Context::new(&SHA256));
    // Only maps with other keys than text cannot be written, and there are none here.
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
