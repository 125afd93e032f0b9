//! Guarded writes: one script, sent again until the server answers it.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use redis::Value as Answer;
use seinpaal_proto::{Batch, Inbox, Name};
use tokio::time::sleep;

use super::{RedisStore, encode, error::one_line, keys::hash_slot_of, script::Script};
use seinpaal_store::{
    Certainty, StoreError, StoreErrorKind, boottime,
    guarded::{BadGroup, GuardedError, GuardedWrite, Value},
};

/// For how long a group is sent again and may be executed, in microseconds.
const WRITE_TIMEOUT: u64 = 10_000_000;
/// How many bytes the answers to the commands of a group may have. They may contain values that
/// were there before.
const GROUP_ROOM: usize = 64 << 20;
/// The pause between two tries. A lost connection has a pause of its own.
const PAUSE: Duration = Duration::from_millis(50);

impl RedisStore {
    pub(super) async fn write(&self, write: &GuardedWrite) -> Result<Vec<Value>, GuardedError> {
        let keys = self.keys_of_write(write)?;
        // The second round uses a new reading of the server's clock.
        for _ in 0..2 {
            let not_after = self.server_now(&write.name).await? + WRITE_TIMEOUT;
            let arguments = arguments(write, self.inbox, self.given_now(), not_after);
            if let Some(outcome) = self.repeat(&keys, &arguments).await {
                return outcome;
            }
            // Nothing was written. The server's clock has stepped, so it is read anew.
            *self.heard() = None;
        }
        Err(too_late().into())
    }

    /// Sends a group until it is answered. All tries have one deadline. `None` if the group came
    /// too late, and nothing was written.
    async fn repeat(&self, keys: &[Vec<u8>], arguments: &[Vec<u8>]) -> GroupEnd {
        let give_up = boottime::now() + WRITE_TIMEOUT;
        let mut doubt = None;
        loop {
            let error = match self.evaluate_write(keys, arguments).await {
                // This try came too late, but an earlier one without an answer may have executed
                // the group. Then the outcome is unknown.
                Ok(outcome) => return outcome.or_else(|| doubt.map(unknown)),
                Err(error) => error,
            };
            let is_over = !error.is_passing() || boottime::now() >= give_up;
            // The outcome of later tries does not matter here: this one may have been executed.
            if error.certainty() == Certainty::Unknown {
                doubt = Some(error.clone());
            }
            if is_over {
                return Some(doubt.map_or_else(|| Err(error.into()), unknown));
            }
            sleep(PAUSE).await;
        }
    }

    /// Sends a group once. Its writes count only when as many replicas have them as the URL asks
    /// for.
    async fn evaluate_write(
        &self,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
    ) -> Result<GroupEnd, StoreError> {
        let (answer, proof) =
            self.servers.evaluate(Script::Write, keys, arguments, GROUP_ROOM).await?;
        let outcome = read(answer);
        if matches!(outcome, Some(Ok(_) | Err(GuardedError::Partial { .. }))) {
            self.servers.confirm(proof).await?;
        }
        Ok(outcome)
    }

    /// The keys of a write: those of the name, that of the group's id, and one for each command.
    /// The error says which of the commands' keys cannot be used.
    fn keys_of_write(&self, write: &GuardedWrite) -> Result<Vec<Vec<u8>>, GuardedError> {
        let [records, order] = self.keys.of(&write.name);
        let hash_slot = self.servers.hash_slot_of(&records);
        let id = self.keys.write(&write.name, write.id);
        let mut keys = vec![records.into_bytes(), order.into_bytes(), id.into_bytes()];
        for command in &write.group.commands {
            let shown = || String::from_utf8_lossy(&command.key).into_owned();
            if self.keys.is_ours(&command.key) {
                return Err(BadGroup::OurKey(shown()).into());
            }
            if hash_slot.is_some_and(|hash_slot| hash_slot_of(&command.key) != hash_slot) {
                return Err(GuardedError::OtherHashSlot(shown()));
            }
            keys.push(command.key.clone());
        }
        Ok(keys)
    }

    /// A lower bound of the server's clock now: its last reading, and the time since then.
    async fn server_now(&self, name: &Name) -> Result<u64, StoreError> {
        let is_unheard = self.heard().is_none();
        if is_unheard {
            let name = name.clone();
            let nothing = Batch { name, inbox: None, fence_seen: 0, requests: Vec::new() };
            self.execute(&nothing).await?;
        }
        let (showed, when) = self.heard().unwrap_or_default();
        Ok(showed + boottime::now().saturating_sub(when))
    }

    /// Remembers a reading of the server's clock.
    pub(super) fn hear(&self, now: u64) {
        *self.heard() = Some((now, boottime::now()));
    }

    fn heard(&self) -> MutexGuard<'_, Option<(u64, u64)>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The arguments of `lua/names/write.lua`.
fn arguments(write: &GuardedWrite, inbox: Inbox, now: Option<u64>, not_after: u64) -> Vec<Vec<u8>> {
    let text = |number: u64| number.to_string().into_bytes();
    let held = write.held.iter().flat_map(|(ticket, fence)| encode::held(*ticket, *fence));
    let mut arguments = vec![
        now.map(text).unwrap_or_default(),
        inbox.0.to_be_bytes().to_vec(),
        held.collect(),
        text(not_after),
    ];
    for command in &write.group.commands {
        let count = command.args.len().to_string();
        arguments
            .extend([command.name, command.shape, &count].map(|text| text.as_bytes().to_vec()));
        arguments.extend(command.args.iter().cloned());
    }
    arguments
}

/// The outcome of a group, or `None` if it came too late and nothing was written.
pub type GroupEnd = Option<Result<Vec<Value>, GuardedError>>;

/// Reads the answer of `lua/names/write.lua`.
// Used by fuzz/.
pub fn read(answer: Answer) -> GroupEnd {
    parse(answer).unwrap_or_else(|| {
        let message =
            "the answer of the script write cannot be read: is there a proxy that changes replies?";
        Some(unknown(StoreError::new(StoreErrorKind::Corrupt, Certainty::Unknown, message)))
    })
}

fn unknown(doubt: StoreError) -> Result<Vec<Value>, GuardedError> {
    Err(GuardedError::Unknown(doubt))
}

fn parse(answer: Answer) -> Option<GroupEnd> {
    let Answer::Array(parts) = answer else { return None };
    let [word, at, why, answers] = <[Answer; 4]>::try_from(parts).ok()?;
    let command = usize::try_from(value(at)?.as_int()?).ok()?.saturating_sub(1);
    let why = one_line(&String::from_utf8_lossy(value(why)?.as_bytes()?));
    let Value::List(answers) = value(answers)? else { return None };
    Some(Some(match value(word)?.as_bytes()? {
        b"done" => Ok(answers),
        b"partial" => Err(GuardedError::Partial { command, why, answers }),
        b"refused" => Err(GuardedError::Refused { command, why }),
        b"lost" => Err(GuardedError::NotHeld),
        b"late" => return Some(None),
        _ => return None,
    }))
}

fn value(answer: Answer) -> Option<Value> {
    Some(match answer {
        Answer::Nil => Value::Nil,
        Answer::Int(number) => Value::Int(number),
        Answer::BulkString(bytes) => Value::Bytes(bytes),
        Answer::SimpleString(text) => Value::Status(text),
        Answer::Okay => Value::Status("OK".into()),
        Answer::Array(parts) => Value::List(parts.into_iter().map(value).collect::<Option<_>>()?),
        _ => return None,
    })
}

fn too_late() -> StoreError {
    let message = "the server was slow, or its clock steps, and the group was refused: try again";
    StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message)
}
