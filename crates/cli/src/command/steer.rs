//! `pause`, `resume`, `evict` and `ask`.

use crate::{
    args::{AskArgs, Global, NameAndTicket, OneName, PauseArgs},
    command::ticket::find,
    connection::ask,
    exit::{Exit, Failure},
    output::Voice,
};

/// Pauses a name.
pub(super) fn pause(global: &Global, args: &PauseArgs, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal pause", &args.name, async |seinpaal| {
        seinpaal.semaphore(&args.name).pause(&args.reason).await?;
        voice.explain(format!("{}: paused", args.name));
        Ok(Exit::Success)
    })
}

/// Resumes a name.
pub(super) fn resume(global: &Global, args: &OneName, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal resume", &args.name, async |seinpaal| {
        seinpaal.semaphore(&args.name).resume().await?;
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

/// Asks a holder to hand over.
pub(super) fn ask_holder(global: &Global, args: &AskArgs, voice: Voice) -> Result<Exit, Failure> {
    let NameAndTicket { name, ticket } = &args.which;
    let by = args.by.clone().unwrap_or_else(this_user);
    ask(global, voice, "seinpaal ask", name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(name);
        let ticket = find(&semaphore, ticket).await?;
        semaphore.ask_holder(ticket, &by, &args.reason).await?;
        voice.explain(format!("{name}: asked"));
        Ok(Exit::Success)
    })
}

/// Returns `USER@HOST`, so that people on other machines know who asks.
pub(crate) fn this_user() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let user = user.unwrap_or_else(|_| rustix::process::getuid().as_raw().to_string());
    let host = rustix::system::uname();
    format!("{user}@{}", host.nodename().to_string_lossy())
}
