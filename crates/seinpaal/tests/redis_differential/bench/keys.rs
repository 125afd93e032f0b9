//! Checks how long the keys of the name last.

use std::sync::atomic::Ordering;

use redis::Cmd;
use seinpaal_proto::MemoryState;

use super::{Bench, KEY};

impl Bench {
    /// Makes the keys older by a step, and returns whether the name is gone after that. This is
    /// needed because the server's own clock hardly moves while the test's clock goes on by hours.
    pub(super) async fn is_gone_after(&mut self, step: i64) -> bool {
        match self.told.take() {
            Some(is_gone) => is_gone,
            None if is_felt(step) => {
                self.aging.stepped(step);
                age_keys(step).query_async(&mut self.ears).await.unwrap()
            }
            None => false,
        }
    }

    /// Reports keys that end too early, or never. On the server's own clock they have to last at
    /// least as long as every lease in them. Answers would show a mistake only once the keys are
    /// gone.
    pub(super) fn kept_amiss(&self, state: &MemoryState, kept: &Kept) -> Option<String> {
        kept.is_left().or_else(|| self.cut_short(state, kept.lasting))
    }

    fn cut_short(&self, state: &MemoryState, lasting: [i64; 2]) -> Option<String> {
        let longest = self.owed(state)?;
        for (key, left) in [KEY.to_owned(), format!("{KEY}:o")].into_iter().zip(lasting) {
            let is_there = left != -2 || key == KEY; // nothing may be listed
            if is_there && left != -1 && left < longest {
                return Some(format!("{key} lasts for {left} ms, and is needed for {longest}"));
            }
            let is_kept =
                state.facts().is_none_or(|head| head.pinned.is_some() || head.paused.is_some());
            if left == -1 && !is_kept {
                return Some(format!("{key} lasts for ever"));
            }
        }
        None
    }

    /// For how many milliseconds of the server's clock a name is needed, if no client asks again:
    /// for its leases, or else for its memories, and until the clock has passed its fence.
    pub(super) fn owed(&self, state: &MemoryState) -> Option<i64> {
        let (facts, now) = (state.facts()?, self.now.load(Ordering::SeqCst));
        let leases = state.leases().map(|lease| lease.ends).max();
        let ends = leases.or_else(|| state.memories().map(|memory| memory.until).max());
        let fence = if facts.owes_fence(now) { facts.fence - now } else { 0 };
        let owed =
            (ends.map_or(0, |ends| ends.saturating_sub(facts.clock)).max(fence) / 1000) as i64;
        Some(owed - self.began.elapsed().as_millis() as i64 - 1)
    }
}

/// The place of the number of rows in a head: at its end, before the number of free ranges.
const ROWS_AT: usize = 119;
/// The place of the number of rows in the head of a crowd, counted from its end.
const ROWS_OF_A_CROWD: usize = 20;

/// The state of the keys, as a second client sees it.
pub(super) struct Kept {
    /// For how many milliseconds each key lasts: -1 for ever, -2 if it is not there.
    pub(super) lasting: [i64; 2],
    pub(super) head: Option<Vec<u8>>,
    pub(super) fields: usize,
}

impl Kept {
    /// Checks that the hash has the fields that its head states, and no others.
    fn is_left(&self) -> Option<String> {
        let head = self.head.as_deref()?;
        let number = |at: usize| {
            let bytes = head.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes) as usize)
        };
        // A line or a lone value stands alone, except that its tickets may stand apart from it. The
        // head counts the rows.
        let expected = match head.first()? {
            13..=15 | 22 => 1,
            20 => 2,
            12 => 1 + number(ROWS_AT)?,
            16 => 2 + number(ROWS_AT)?,
            21 => 1 + number(head.len() - ROWS_OF_A_CROWD)?,
            form => return Some(format!("no head has form {form}")),
        };
        (self.fields != expected)
            .then(|| format!("the hash has {} fields, and not {expected}", self.fields))
    }
}

/// Returns whether a step is long enough to change a key's age, because keys count milliseconds.
pub(super) fn is_felt(step: i64) -> bool {
    step / 1000 != 0
}

/// Makes the keys older by a step. The answer is 1 if the name is gone after that.
pub(super) fn age_keys(step: i64) -> Cmd {
    let script = "local had = redis.call('exists', KEYS[1])
        for i = 1, #KEYS do
          local left = redis.call('pttl', KEYS[i])
          if left >= 0 then redis.call('pexpire', KEYS[i], left - ARGV[1]) end
        end
        return had - redis.call('exists', KEYS[1])";
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(2).arg(KEY).arg(format!("{KEY}:o")).arg(step / 1000);
    command
}
