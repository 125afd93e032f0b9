//! `queue pause`, `resume`, `purge` and `cancel`.

use seinpaal::{ItemId, Name, Was};

use super::dead::{all_that_match, count, one_has_a_number};
use crate::{
    args::{
        Global,
        queue::{OneQueue, QueueCancelArgs, QueuePauseArgs, Which},
    },
    connection::ask,
    exit::{Exit, Failure},
    output::{self, Voice},
};

/// Delivers nothing.
pub(super) fn pause(global: &Global, args: &QueuePauseArgs, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal queue pause", &args.name, async |seinpaal| {
        seinpaal.queue(&args.name).pause(&args.reason).await?;
        voice.explain(format!("{}: paused", args.name));
        Ok(Exit::Success)
    })
}

/// Delivers again.
pub(super) fn resume(global: &Global, args: &OneQueue, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal queue resume", &args.name, async |seinpaal| {
        seinpaal.queue(&args.name).resume().await?;
        voice.explain(format!("{}: resumed", args.name));
        Ok(Exit::Success)
    })
}

/// Removes all items that are ready or delayed.
pub(super) fn purge(global: &Global, args: &OneQueue, voice: Voice) -> Result<Exit, Failure> {
    let removed = ask(global, voice, "seinpaal queue purge", &args.name, async |seinpaal| {
        Ok(seinpaal.queue(&args.name).purge().await?)
    })?;
    output::print(&format!("{removed}\n")).map(|()| Exit::Success)
}

/// Takes out one item, or all in work that match.
pub(super) fn cancel(
    global: &Global,
    args: &QueueCancelArgs,
    voice: Voice,
) -> Result<Exit, Failure> {
    let matching = all_that_match(args.matching.as_deref());
    if args.matching.is_some() && args.id != Which::All {
        return Err(one_has_a_number());
    }
    ask(global, voice, "seinpaal queue cancel", &args.name, async |seinpaal| {
        let queue = seinpaal.queue(&args.name);
        match args.id {
            Which::One(id) => voice.explain(cancelled(&args.name, id, queue.cancel(id).await?)),
            Which::All => {
                count(queue.cancel_in_work(|item| matching.has_in_work(item)).await?)?;
            }
        }
        Ok(Exit::Success)
    })
}

fn cancelled(name: &Name, id: ItemId, was: Was) -> String {
    let was = match was {
        Was::Delayed => "delayed",
        Was::InWork => "in work",
        _ => "ready",
    };
    format!("{name}: cancelled item {id}, which was {was}")
}
