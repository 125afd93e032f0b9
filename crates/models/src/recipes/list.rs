//! Permits as items of a list, and waking by a list.

use super::{Kitchen, Program, ProgramLife, Recipe, RecipeStore};

/// A list of as many items as permits.
#[derive(Clone, Copy)]
pub(super) struct ListOfPermits;

impl Recipe for ListOfPermits {
    fn title(&self) -> &'static str {
        "A list of permits"
    }

    fn sketch(&self) -> &'static str {
        "The list holds as many items as there are permits. RPOP (or BRPOP) takes one, and \
         LPUSH puts it back. There is one permit, and a client may crash."
    }

    fn instead(&self) -> &'static str {
        "a permit is a lease, and leases end (rules 3 and 6)."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn begin(&self, store: &mut RecipeStore) {
        store.lpush("permits", 1);
    }

    fn trouble(&self) -> (u8, i64) {
        (1, 0)
    }

    fn step(&self, _: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        if me.life == ProgramLife::Holds {
            store.lpush("permits", 1);
            me.life = ProgramLife::Done;
            return Some(String::from("LPUSH: it gives the permit back."));
        }
        store.rpop("permits")?;
        me.life = ProgramLife::Holds;
        Some(String::from("RPOP: it has a permit."))
    }

    fn wrong(&self, world: &Kitchen) -> Option<String> {
        let has_one = |program: &Program| program.life == ProgramLife::Holds;
        let is_lost = world.store.llen("permits") == 0 && !world.programs.iter().any(has_one);
        is_lost.then(|| {
            String::from("The permit is lost for ever: it is in no list and in nobody's hand.")
        })
    }
}

/// A list of permits, made by the first client that finds none.
#[derive(Clone, Copy)]
pub(super) struct ListSetUp;

impl Recipe for ListSetUp {
    fn title(&self) -> &'static str {
        "A list of permits, made by the first client"
    }

    fn sketch(&self) -> &'static str {
        "If EXISTS says that there is no list, a client pushes as many items as there are \
         permits. Then it takes one by RPOP. There is one permit, and nobody crashes."
    }

    fn instead(&self) -> &'static str {
        "the limit is stored with the name by the first request, in the step that executes it (rule 11)."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 0)
    }

    fn step(&self, _: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 => {
                let is_new = store.get("made").is_none();
                me.at = if is_new { 1 } else { 2 };
                Some(format!("EXISTS says {}.", i64::from(!is_new)))
            }
            1 => {
                store.lpush("permits", 1);
                store.setnx("made", 1);
                me.at = 2;
                Some(String::from("LPUSH: it makes the list, with one permit."))
            }
            2 => {
                store.rpop("permits")?;
                (me.at, me.life) = (3, ProgramLife::Holds);
                Some(String::from("RPOP: it has a permit."))
            }
            _ => {
                store.lpush("permits", 1);
                me.life = ProgramLife::Done;
                Some(String::from("LPUSH: it gives the permit back."))
            }
        }
    }
}

/// A counter of permits, and a list whose items wake waiters.
#[derive(Clone, Copy)]
pub(super) struct WakeByList;

impl Recipe for WakeByList {
    fn title(&self) -> &'static str {
        "BRPOP as a wake-up"
    }

    fn sketch(&self) -> &'static str {
        "A script admits a client if fewer than the limit hold. A client that is not admitted \
         blocks in BRPOP on a shared list. A client that gives back pushes an item on that \
         list. There are one permit and three clients, and one client may crash."
    }

    fn instead(&self) -> &'static str {
        "the operation that frees a permit also grants it. Wakeups are hints with an address, \
         and the first in line looks again by itself when it was told to (rules 6 and 7)."
    }

    fn size(&self) -> (usize, usize) {
        (3, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (1, 0)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 if store.zcard("holders") == 0 => {
                store.zadd("holders", who as i64, 0);
                (me.at, me.life) = (1, ProgramLife::Holds);
                Some(String::from("the script admits it: it holds."))
            }
            0 => {
                (me.at, me.life) = (2, ProgramLife::Blocked);
                Some(String::from("the script refuses it; it blocks in BRPOP."))
            }
            1 => {
                store.zrem("holders", who as i64);
                store.lpush("wake", 1);
                (me.at, me.life) = (3, ProgramLife::Done);
                Some(String::from("gives back, and LPUSHes a wake-up."))
            }
            2 => {
                store.rpop("wake")?;
                (me.at, me.life) = (0, ProgramLife::Runs);
                Some(String::from("BRPOP returns: it is awake."))
            }
            _ => None,
        }
    }

    fn wrong(&self, world: &Kitchen) -> Option<String> {
        let is_free = world.store.zcard("holders") == 0 && world.store.llen("wake") == 0;
        let acts =
            |program: &Program| matches!(program.life, ProgramLife::Runs | ProgramLife::Holds);
        let blocked =
            world.programs.iter().position(|program| program.life == ProgramLife::Blocked)?;
        (is_free && !world.programs.iter().any(acts))
            .then(|| format!("{} waits for ever, though the permit is free.", super::name(blocked)))
    }
}
