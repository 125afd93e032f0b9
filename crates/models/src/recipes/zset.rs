//! A sorted set of timestamps, by each client's own clock.

use super::{Program, ProgramLife, Recipe, RecipeStore};

const TTL: i64 = 3;

/// A semaphore of one sorted set, with the clients' timestamps as scores.
#[derive(Clone, Copy)]
pub(super) struct Timestamps;

impl Recipe for Timestamps {
    fn title(&self) -> &'static str {
        "A sorted set scored with the client's time"
    }

    fn sketch(&self) -> &'static str {
        "A client does this in one transaction: it drops what is older than its own clock less \
         the timeout, adds itself with its clock as score, and looks at its rank. It holds if \
         its rank is below the limit, and removes itself if not. The limit is 1 and the timeout \
         is 3. The clock of B is one unit behind."
    }

    fn instead(&self) -> &'static str {
        "the store's clock is the only clock for leases (rule 4), and the ledger gives the rank \
         on arrival (rule 5)."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn skew(&self, who: usize) -> i64 {
        if who == 1 { -1 } else { 0 }
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 4)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 => {
                let now = store.asker_now();
                store.zremrangebyscore("holders", now - TTL);
                store.zadd("holders", who as i64, now);
                let rank = store.zrank("holders", who as i64)?;
                (me.at, me.life) =
                    if rank < 1 { (1, ProgramLife::Holds) } else { (2, ProgramLife::Runs) };
                Some(format!(
                    "ZADD with {now} on its clock, ZRANK says {rank}{}",
                    if rank < 1 { ": it holds." } else { "." }
                ))
            }
            1 => {
                (me.at, me.life) = (3, ProgramLife::Done);
                store.zrem("holders", who as i64);
                Some(String::from("ZREM: it gives its permit back."))
            }
            _ => {
                (me.at, me.life) = (0, ProgramLife::Runs);
                store.zrem("holders", who as i64);
                Some(String::from("ZREM: it will try again."))
            }
        }
    }
}
