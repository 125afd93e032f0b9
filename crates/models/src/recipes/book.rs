//! All recipes, as `docs/guide/recipes.md` has them.

use super::{chapter, counter, list, lock, redlock, zset};

const HEAD: &str = "# Broken recipes: do not copy these

For people who have such a recipe in their program, or are about to write one. What to use instead: `semaphore` for all of the counting ones, `mutex` for the locks, `queue` for the lists; one call each,
in the [README](../README.md) and in [service.md](service.md).

Semaphores and locks on Redis are usually a few commands from a book or a blog. Each of these was explored whole, as small programs over a little Redis that executes one command (or one
transaction, or one script) at a time. What follows is the shortest history that breaks each, as the checker found it. This page is the output of `cargo run -p seinpaal-models -- recipes`; a test
compares the two. The same promises, explored over our own ledger and sessions, are kept: see *What the models checked* in [guarantees.md](guarantees.md).

";

/// The page.
#[must_use]
pub fn book() -> String {
    let chapters = [
        chapter(zset::Timestamps),
        chapter(counter::Counter),
        chapter(counter::LockedCounter),
        chapter(counter::AsideCleanUp),
        chapter(list::ListOfPermits),
        chapter(list::ListSetUp),
        chapter(list::WakeByList),
        chapter(lock::SetThenExpire),
        chapter(lock::DeleteBlindly),
        chapter(redlock::Majorities),
    ];
    format!("{HEAD}{}\n", chapters.concat().trim_end())
}
