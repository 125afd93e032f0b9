//! Majorities on whole semaphores.

use super::{Program, ProgramLife, Recipe, RecipeStore};

const NODES: [&str; 3] = ["node 1", "node 2", "node 3"];
const LIMIT: usize = 2;

/// Redlock with a semaphore of two on every node.
#[derive(Clone, Copy)]
pub(super) struct Majorities;

impl Recipe for Majorities {
    fn title(&self) -> &'static str {
        "Redlock for a semaphore of two"
    }

    fn sketch(&self) -> &'static str {
        "Each of three independent servers has a correct semaphore of two. A client holds if \
         two of the three admit it. No clock is wrong, nothing is lost, and nobody crashes."
    }

    fn instead(&self) -> &'static str {
        "`redis+quorum://` decides every slot by a majority, so that no more slots are held than there are."
    }

    fn size(&self) -> (usize, usize) {
        (3, LIMIT)
    }

    fn trouble(&self) -> (u8, i64) {
        (0, 0)
    }

    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String> {
        if me.life == ProgramLife::Holds || me.at as usize >= NODES.len() {
            return None;
        }
        let node = NODES[(who + me.at as usize) % NODES.len()];
        me.at += 1;
        if store.zcard(node) >= LIMIT {
            return Some(format!("{node} is full."));
        }
        store.zadd(node, who as i64, 0);
        let votes = me.notes.entry("votes").or_default();
        *votes += 1;
        if *votes < 2 {
            return Some(format!("{node} admits it."));
        }
        me.life = ProgramLife::Holds;
        Some(format!("{node} admits it: that is a majority, it holds."))
    }
}
