//! Batches about several names in one call. This is possible where one server has all the names.

use redis::Value;
use seinpaal_proto::{Batch, Replies, Reply};
use seinpaal_store::{
    BoxFuture, Bundles, Certainty, OneStep, StoreError, StoreErrorKind, Together,
};

use super::{
    ANSWER_ROOM, RedisStore, ReplicaNeed, decode, encode, error, need_of, refuse_too_much, room_of,
    script::Script, servers::ExecutedAt,
};

type PartResult = Result<Replies, StoreError>;

/// Batches that share one round trip. The server does hardly less work for them. But both ends are
/// woken less often and make fewer system calls, and the client does once what it otherwise does
/// for each batch (docs/decisions/driver.md).
impl Bundles for RedisStore {
    fn call_bundle<'a>(&'a self, batches: &'a [Batch]) -> BoxFuture<'a, Vec<PartResult>> {
        Box::pin(async move {
            let outcomes = self.execute_bundle(batches).await;
            outcomes.unwrap_or_else(|error| batches.iter().map(|_| Err(error.clone())).collect())
        })
    }
}

/// Acquires of several names: all of them, or none.
impl OneStep for RedisStore {
    fn call_together<'a>(
        &'a self,
        batches: &'a [Batch],
    ) -> BoxFuture<'a, Result<Together, StoreError>> {
        Box::pin(self.execute_together(batches))
    }
}

impl RedisStore {
    async fn execute_bundle(&self, batches: &[Batch]) -> Result<Vec<PartResult>, StoreError> {
        batches.iter().try_for_each(refuse_too_much)?;
        let are_hot = batches.iter().all(|batch| encode::script_of(batch) == Script::Hot);
        let script = if are_hot { Script::Hot } else { Script::Admin };
        let room = batches.iter().map(room_of).fold(0, usize::saturating_add);
        let (keys, arguments) = self.keys_and_arguments(batches)?;
        let (answer, proof) = self.run(script, &keys, &arguments, room).await?;
        let mut outcomes = Vec::with_capacity(batches.len());
        for (batch, answer) in batches.iter().zip(answers_to(batches, answer)?) {
            outcomes.push(self.take(batch, answer).await);
        }
        Ok(self.confirmed(outcomes, proof).await)
    }

    fn keys_and_arguments(
        &self,
        batches: &[Batch],
    ) -> Result<(Vec<String>, Vec<Vec<u8>>), StoreError> {
        let keys = self.keys_of(batches.iter().map(|batch| &batch.name));
        let arguments = batches.iter().map(|batch| encode::argument(batch, self.setting()));
        Ok((keys, self.arguments_of(arguments.collect::<Result<_, _>>()?)))
    }

    /// One batch may be refused while another is executed, so each has an outcome of its own.
    async fn take(&self, batch: &Batch, answer: Value) -> PartResult {
        match &answer {
            Value::ServerError(refused) => Err(error::of_server(refused)),
            answer if decode::is_left(answer) => self.execute(batch).await,
            answer => self.read(answer, batch).await,
        }
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

    async fn execute_together(&self, batches: &[Batch]) -> Result<Together, StoreError> {
        let (keys, mut arguments) = self.keys_and_arguments(batches)?;
        encode::set_option(&mut arguments[0], encode::ALL_OR_NONE);
        let room = ANSWER_ROOM.saturating_mul(batches.len());
        let (answer, proof) = self.servers.evaluate(Script::Admin, &keys, &arguments, room).await?;
        let together = parse(answer, batches)?;
        // A refusal leaves nothing behind on which a caller relies.
        if matches!(together, Together::Granted(_)) {
            self.servers.confirm(proof).await?;
        }
        Ok(together)
    }
}

fn need_of_outcome(outcome: &PartResult) -> ReplicaNeed {
    let replies = outcome.iter().flat_map(|replies| &replies.replies);
    replies.map(need_of).max().unwrap_or(ReplicaNeed::Nothing)
}

/// The answers of the script to each batch. To a single one it answers without a list.
fn answers_to(batches: &[Batch], answer: Value) -> Result<Vec<Value>, StoreError> {
    match answer {
        Value::Array(answers) if answers.len() == batches.len() => Ok(answers),
        answer if batches.len() == 1 => Ok(vec![answer]),
        answer => Err(decode::unreadable(&answer)),
    }
}

/// Reads the answer to acquires of all names or none. A refusal is the last answer, and the names
/// behind it were not asked for.
fn parse(answer: Value, batches: &[Batch]) -> Result<Together, StoreError> {
    let answers = match answer {
        Value::Array(answers) if answers.len() <= batches.len() => answers,
        answer if batches.len() == 1 => vec![answer],
        answer => return Err(decode::unreadable(&answer)),
    };
    let mut granted = Vec::with_capacity(answers.len());
    for (at, (batch, answer)) in batches.iter().zip(answers).enumerate() {
        if let Value::ServerError(refused) = &answer {
            return Err(error::of_server(refused));
        }
        let replies = decode::replies(&answer, batch)?;
        if !matches!(replies.replies[..], [Reply::Granted(_)]) {
            return Ok(Together::Refused(at, replies));
        }
        granted.push(replies);
    }
    match granted.len() == batches.len() {
        true => Ok(Together::Granted(granted)),
        false => {
            let message =
                "the script answered for too few names: is there a proxy that changes replies?";
            Err(StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message))
        }
    }
}
