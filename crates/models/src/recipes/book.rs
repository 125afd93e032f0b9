//! All recipes, as `docs/guide/recipes.md` has them.

use super::{chapter, counter, list, lock, redlock, zset};

const HEAD: &str = "# Broken recipes: do not copy these

For people who have such a recipe in their program, or are about to write one. Use `semaphore`
instead of the counting ones, `mutex` instead of the locks and `queue` instead of the lists:
[Coming from something else](coming-from.md) has the lines.

Semaphores and locks on Redis are usually a few commands from a book or a blog. Each of them is a
small program here, over a little Redis that executes one command, one transaction or one script at
a time. A checker explored all orders of their steps. Each chapter has the shortest history that
breaks its recipe. This page is the output of `cargo run -p seinpaal-models -- recipes`, and a test
compares the two. This checker also explores our own ledger and sessions, which keep these promises:
see [What the models checked](../internals/tests/models.md).

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
