//! Batches about several names that share one round trip. This is possible where one server has all
//! the names.
//!
//! The server does hardly less work for them. But both ends are woken less often and make fewer
//! system calls, and the client does once what it otherwise does for each batch
//! (docs/decisions/driver.md).

use redis::Value;
use seinpaal_proto::{Batch, Replies};

use super::{
    RedisStore, ReplicaNeed, error, need_of, refuse_too_much, reply, room_of, script::ScriptKind,
    servers::ExecutedAt,
};
use seinpaal_store::{BoxFuture, Bundles, Certainty, StoreError, StoreErrorKind};

type PartResult = Result<Replies, StoreError>;

impl Bundles for RedisStore {
    fn call_bundle<'a>(&'a self, batches: &'a [Batch]) -> BoxFuture<'a, Vec<PartResult>> {
        Box::pin(async move {
            let outcomes = self.execute_bundle(batches).await;
            outcomes.unwrap_or_else(|error| batches.iter().map(|_| Err(error.clone())).collect())
        })
    }
}

impl RedisStore {
    async fn execute_bundle(&self, batches: &[Batch]) -> Result<Vec<PartResult>, StoreError> {
        batches.iter().try_for_each(refuse_too_much)?;
        let (keys, arguments) = self.keys_and_arguments_of_bundle(batches);
        let room = batches.iter().map(room_of).fold(0, usize::saturating_add);
        let (answer, proof) =
            self.servers.evaluate(ScriptKind::Bundle, &keys, &arguments, room).await?;
        let answers = answers_to(batches, answer)?;
        let outcomes = batches.iter().zip(answers).map(|(batch, answer)| self.take(batch, answer));
        let outcomes = outcomes.collect();
        Ok(self.confirmed(outcomes, proof).await)
    }

    fn keys_and_arguments_of_bundle(&self, batches: &[Batch]) -> (Vec<String>, Vec<Vec<u8>>) {
        let mut keys = Vec::with_capacity(3 * batches.len());
        let mut arguments = Vec::with_capacity(1 + 2 * batches.len());
        arguments.push(batches.len().to_string().into_bytes());
        for batch in batches {
            let (batch_keys, batch_arguments) = self.keys_and_arguments_in_form(batch);
            keys.extend(batch_keys);
            arguments.push(batch_arguments.len().to_string().into_bytes());
            arguments.extend(batch_arguments);
        }
        (keys, arguments)
    }

    fn take(&self, batch: &Batch, answer: Value) -> PartResult {
        if let Value::ServerError(refused) = &answer {
            return Err(error::of_server(refused));
        }
        // One batch may be refused while another is executed, so each has an outcome of its own.
        let replies = reply::of_batch(answer, ScriptKind::Bundle.name(), batch)?;
        self.hear(replies.now);
        self.servers.take_note(batch, &replies);
        Ok(replies)
    }

    /// Asks the replicas once for all batches. If they fail, each batch that needs them fails.
    async fn confirmed(&self, mut outcomes: Vec<PartResult>, proof: ExecutedAt) -> Vec<PartResult> {
        let most = outcomes.iter().map(need_of_outcome).max().unwrap_or(ReplicaNeed::Nothing);
        if let Err(error) = self.meet(most, proof).await {
            for outcome in &mut outcomes {
                if need_of_outcome(outcome) > ReplicaNeed::Nothing {
                    *outcome = Err(error.clone());
                }
            }
        }
        outcomes
    }
}

fn need_of_outcome(outcome: &PartResult) -> ReplicaNeed {
    let replies = outcome.iter().flat_map(|replies| &replies.replies);
    replies.map(need_of).max().unwrap_or(ReplicaNeed::Nothing)
}

fn answers_to(batches: &[Batch], answer: Value) -> Result<Vec<Value>, StoreError> {
    match answer {
        Value::Array(answers) if answers.len() == batches.len() => Ok(answers),
        _ => {
            let message = "the answer of the script bundle cannot be read: is there a proxy that changes replies?";
            Err(StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message))
        }
    }
}
