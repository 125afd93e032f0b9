//! Locks of one key.

use super::{Kitchen, Program, ProgramLife, Recipe, RecipeStore};

const TTL: i64 = 2;

/// `SETNX`, then `EXPIRE`.
#[derive(Clone, Copy)]
pub(super) struct SetThenExpire;

impl Recipe for SetThenExpire {
    fn title(&self) -> &'static str {
        "SETNX and EXPIRE as two commands"
    }

    fn sketch(&self) -> &'static str {
        "SETNX takes the lock, EXPIRE makes it end, and DEL gives it back. A client may crash."
    }

    fn instead(&self) -> &'static str {
        "`mutex`: a permit and its lease are one write."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (1, 0)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 => {
                if !store.setnx("lock", who as i64) {
                    return None;
                }
                me.at = 1;
                Some(String::from("SETNX: it has the lock."))
            }
            1 => {
                store.expire("lock", TTL);
                (me.at, me.life) = (2, ProgramLife::Holds);
                Some(String::from("EXPIRE: the lock will end."))
            }
            _ => {
                store.del("lock");
                (me.at, me.life) = (3, ProgramLife::Done);
                Some(String::from("DEL: it gives the lock back."))
            }
        }
    }

    fn wrong(&self, world: &Kitchen) -> Option<String> {
        let owner = usize::try_from(world.store.get("lock")?).ok()?;
        let is_gone = world.programs.get(owner)?.life == ProgramLife::Crashed;
        (is_gone && !world.store.has_expiry("lock")).then(|| {
            String::from("The lock never ends, and its owner is gone: nobody gets it ever again.")
        })
    }
}

/// `SET NX PX`, then a plain `DEL`.
#[derive(Clone, Copy)]
pub(super) struct DeleteBlindly;

impl Recipe for DeleteBlindly {
    fn title(&self) -> &'static str {
        "SET NX PX, deleted without a look"
    }

    fn sketch(&self) -> &'static str {
        "SET NX PX takes the lock for 2. DEL gives it back, even if another client has it by then. Every \
         client stops in time by its own clock, but its DEL may be late."
    }

    fn instead(&self) -> &'static str {
        "a release names the ticket (rule 14), so a late one changes nothing."
    }

    fn size(&self) -> (usize, usize) {
        (3, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 3)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 => {
                if !store.setnx("lock", who as i64) {
                    return None;
                }
                store.expire("lock", TTL);
                me.notes.insert("until", store.now + TTL);
                (me.at, me.life) = (1, ProgramLife::Holds);
                Some(format!("SET NX PX: it has the lock until {}.", store.now + TTL))
            }
            1 => {
                (me.at, me.life) = (2, ProgramLife::Runs);
                Some(String::from("stops, and sends its DEL."))
            }
            _ => {
                store.del("lock");
                (me.at, me.life) = (3, ProgramLife::Done);
                Some(String::from("DEL arrives."))
            }
        }
    }
}
