//! `queue pause`, `resume`, `purge` and `cancel`.

use seinpaal::Was;

use crate::{
    args::{
        Global,
        queue::{OneQueue, QueueCancelArgs, QueuePauseArgs},
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

/// Takes out one item.
pub(super) fn cancel(
    global: &Global,
    args: &QueueCancelArgs,
    voice: Voice,
) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal queue cancel", &args.name, async |seinpaal| {
        let was = match seinpaal.queue(&args.name).cancel(args.id).await? {
            Was::Delayed => "delayed",
            Was::InWork => "in work",
            _ => "ready",
        };
        voice.explain(format!("{}: cancelled item {}, which was {was}", args.name, args.id));
        Ok(Exit::Success)
    })
}
