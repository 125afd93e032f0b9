//! Recipes in which a counter gives the order and a second sorted set has the owners: alone, under
//! a lock that can expire, and with a clean-up beside the script that admits.

use super::{Program, ProgramLife, Recipe, RecipeStore};

/// The recipe in two transactions.
#[derive(Clone, Copy)]
pub(super) struct Counter;

/// The recipe in one transaction under a lock that can expire.
#[derive(Clone, Copy)]
pub(super) struct LockedCounter;

const TTL: i64 = 9;
const LOCK_TTL: i64 = 2;

fn count(store: &mut RecipeStore) -> i64 {
    let now = store.asker_now();
    store.zremrangebyscore("times", now - TTL);
    store.zinterstore("owners", "times");
    store.incr("counter")
}

fn enter(who: usize, number: i64, store: &mut RecipeStore) -> usize {
    store.zadd("times", who as i64, store.asker_now());
    store.zadd("owners", who as i64, number);
    store.zrank("owners", who as i64).unwrap_or(usize::MAX)
}

fn leave(who: usize, store: &mut RecipeStore) {
    store.zrem("owners", who as i64);
    store.zrem("times", who as i64);
}

fn ranked(rank: usize) -> &'static str {
    if rank < 1 { "rank 0: it holds." } else { "its rank is too high." }
}

impl Recipe for Counter {
    fn title(&self) -> &'static str {
        "A counter and an owner set, in two steps"
    }

    fn sketch(&self) -> &'static str {
        "In a first transaction a client cleans up, runs ZINTERSTORE and increments the \
         counter. In a second one it adds itself to the times, and to the owners with its \
         number as score. It holds if its rank is below the limit. The limit is 1, and clocks \
         are perfect."
    }

    fn instead(&self) -> &'static str {
        "a client that asks is counted and admitted in one atomic step (rules 1 and 6)."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 0)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 => {
                let number = count(store);
                me.notes.insert("number", number);
                me.at = 1;
                Some(format!("INCR: its number is {number}."))
            }
            1 => {
                let rank = enter(who, *me.notes.get("number")?, store);
                (me.at, me.life) =
                    if rank < 1 { (2, ProgramLife::Holds) } else { (3, ProgramLife::Runs) };
                Some(format!("ZADD, ZRANK: {}", ranked(rank)))
            }
            _ => {
                leave(who, store);
                (me.at, me.life) = (4, ProgramLife::Done);
                Some(String::from("ZREM: it leaves."))
            }
        }
    }
}

impl Recipe for LockedCounter {
    fn title(&self) -> &'static str {
        "The same under a lock that expires"
    }

    fn sketch(&self) -> &'static str {
        "A client takes a lock by SETNX with an expiry of 2, makes both transactions, and \
         deletes the lock. The lock keeps the two together, unless it expires between them."
    }

    fn instead(&self) -> &'static str {
        "one atomic step needs no lock around it."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 4)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        match me.at {
            0 if store.setnx("lock", who as i64) => {
                store.expire("lock", LOCK_TTL);
                me.at = 1;
                Some(String::from("SET NX PX: it has the lock."))
            }
            0 => None,
            1 => {
                let number = count(store);
                me.notes.insert("number", number);
                me.at = 2;
                Some(format!("INCR: its number is {number}."))
            }
            2 => {
                let rank = enter(who, *me.notes.get("number")?, store);
                (me.at, me.life) =
                    if rank < 1 { (3, ProgramLife::Holds) } else { (4, ProgramLife::Runs) };
                Some(format!("ZADD, ZRANK: {}", ranked(rank)))
            }
            3 if store.get("lock") == Some(who as i64) => {
                store.del("lock");
                me.at = 4;
                Some(String::from("DEL: it gives the lock back."))
            }
            _ => {
                leave(who, store);
                (me.at, me.life) = (5, ProgramLife::Done);
                Some(String::from("ZREM: it leaves."))
            }
        }
    }
}

/// A script admits by count, and clients clean up in steps of their own.
#[derive(Clone, Copy)]
pub(super) struct AsideCleanUp;

impl Recipe for AsideCleanUp {
    fn title(&self) -> &'static str {
        "A script that counts, with a clean-up on the side"
    }

    fn sketch(&self) -> &'static str {
        "A script adds a client if there are fewer owners than the limit. It is atomic. The \
         client that gets a SETNX flag of length 4 removes the owners that have run out, in two \
         steps of its own: it reads which have run out by its clock, and then removes them. It \
         removes an owner that renews in between, too. The limit is 1 and the timeout is 2."
    }

    fn instead(&self) -> &'static str {
        "every operation expires what has run out, in the same atomic step (rule 6)."
    }

    fn size(&self) -> (usize, usize) {
        (2, 1)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 3)
    }

    /// A acquires and renews; B cleans up and acquires.
    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        if who == 0 { holder(me, store) } else { cleaner(me, store) }
    }
}

fn holder(me: &mut Program, store: &mut RecipeStore) -> Option<String> {
    let now = store.now;
    if me.at == 0 {
        return admit(0, me, store);
    }
    let is_there = store.zrank("owners", 0).is_some();
    if !is_there {
        (me.at, me.life) = (9, ProgramLife::Done);
        return Some(String::from("renews: it is not there any more. It stops."));
    }
    store.zadd("owners", 0, now + 2);
    me.notes.insert("until", now + 2);
    Some(format!("renews until {}.", now + 2))
}

fn cleaner(me: &mut Program, store: &mut RecipeStore) -> Option<String> {
    match me.at {
        0 if store.setnx("flag", 1) => {
            store.expire("flag", 4);
            let now = store.now;
            let is_over = store.zrank("owners", 0).is_some() && store.zscore("owners", 0)? <= now;
            me.notes.insert("over", i64::from(is_over));
            me.at = 1;
            let found = if is_over { "A has run out" } else { "nobody has run out" };
            Some(format!("SETNX: it gets the flag, and reads that {found}."))
        }
        0 => None,
        1 => {
            if me.notes.get("over") == Some(&1) {
                store.zrem("owners", 0);
            }
            me.at = 2;
            Some(String::from("ZREM: it removes the owners that had run out."))
        }
        _ if me.life == ProgramLife::Runs => admit(1, me, store),
        _ => None,
    }
}

fn admit(who: i64, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
    if store.zcard("owners") >= 1 {
        return None;
    }
    store.zadd("owners", who, store.now + 2);
    me.notes.insert("until", store.now + 2);
    (me.at, me.life) = (3, ProgramLife::Holds);
    Some(format!("the script admits it until {}: it holds.", store.now + 2))
}
