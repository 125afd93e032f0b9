//! Several names in one step. This is possible where one server has all of them.

use redis::Value;
use seinpaal_proto::Batch;

use super::{
    ANSWER_ROOM, RedisStore, reply,
    script::{self, ScriptKind},
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind, Together, together::undoing};

impl RedisStore {
    pub(super) async fn execute_together(&self, batches: &[Batch]) -> Result<Together, StoreError> {
        let mut keys = Vec::new();
        let mut arguments = vec![batches.len().to_string().into_bytes()];
        for batch in batches {
            let (batch_keys, batch_arguments) = self.keys_and_arguments(batch);
            keys.extend(batch_keys);
            arguments.push(batch_arguments.len().to_string().into_bytes());
            arguments.extend(batch_arguments);
            // The line that cancels the acquire goes along, in case the next name refuses.
            arguments.extend(
                undoing(batch).requests.iter().map(|request| script::line(request).into_bytes()),
            );
        }
        let room = ANSWER_ROOM.saturating_mul(batches.len());
        let (answer, proof) =
            self.servers.evaluate(ScriptKind::Together, &keys, &arguments, room).await?;
        let together = parse(answer, batches)?;
        // A refusal leaves nothing behind on which a caller relies.
        if matches!(together, Together::Granted(_)) {
            self.servers.confirm(proof).await?;
        }
        Ok(together)
    }
}

fn parse(answer: Value, batches: &[Batch]) -> Result<Together, StoreError> {
    let Value::Array(answers) = answer else { return Err(misfit()) };
    let mut answers = answers.into_iter();
    let word = answers.next().and_then(text).ok_or_else(misfit)?;
    let replies = |answer| reply::parse(answer, ScriptKind::Together.name(), 1);
    if word == "granted" && answers.len() == batches.len() {
        return answers.map(replies).collect::<Result<_, _>>().map(Together::Granted);
    }
    let at: usize =
        word.strip_prefix("refused ").and_then(|at| at.parse().ok()).ok_or_else(misfit)?;
    let refusal = answers.next().filter(|_| at < batches.len()).ok_or_else(misfit)?;
    Ok(Together::Refused(at, replies(refusal)?))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn misfit() -> StoreError {
    let message =
        "the answer of the script together cannot be read: is there a proxy that changes replies?";
    StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)
}
