//! `pause`, `resume` and `evict`.

use super::unused;
use crate::{
    args::{Global, NameAndTicket, OneName, PauseArgs},
    command::ticket::find,
    connection::ask,
    exit::{Exit, Failure},
    output::Voice,
};

/// Pauses a name.
pub(super) fn pause(global: &Global, args: &PauseArgs, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal pause", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        let seen = semaphore.summary(0).await?;
        semaphore.pause(&args.reason).await?;
        unused::remark(seinpaal, &seen, voice).await.iter().for_each(|words| voice.say(words));
        voice.explain(format!("{}: paused", args.name));
        Ok(Exit::Success)
    })
}

/// Resumes a name.
pub(super) fn resume(global: &Global, args: &OneName, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal resume", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        let seen = semaphore.summary(0).await?;
        semaphore.resume().await?;
        unused::remark(seinpaal, &seen, voice).await.iter().for_each(|words| voice.say(words));
        voice.explain(format!("{}: resumed", args.name));
        Ok(Exit::Success)
    })
}

/// Ends a lease or a place in line.
pub(super) fn evict(global: &Global, args: &NameAndTicket, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal evict", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        semaphore.evict(find(&semaphore, &args.ticket).await?).await?;
        voice.explain(format!("{}: evicted", args.name));
        Ok(Exit::Success)
    })
}
