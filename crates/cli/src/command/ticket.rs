//! `renew` and `release`: what the ticket of `acquire` is for.

use crate::{
    args::{Global, NameAndTicket, Renew},
    command::ask,
    exit::{Exit, Failure},
    output::{self, Voice, json},
};

/// Extends a lease.
pub(super) fn renew(global: &Global, args: &Renew, voice: Voice) -> Result<Exit, Failure> {
    let NameAndTicket { name, ticket } = &args.which;
    let valid_for = ask(global, voice, "seinpaal renew", async |seinpaal| {
        Ok(seinpaal.semaphore(name).renew_ticket(*ticket, args.ttl).await?)
    })?;
    if global.json {
        let valid_for_ms = valid_for.map(|left| left.as_millis());
        let ticket = ticket.to_string();
        output::print(&json::line(&json::Renewed { name, ticket, valid_for_ms }))?;
    }
    let lasts = valid_for.map_or_else(|| "unlimited".to_owned(), crate::output::text::age);
    voice.explain(format!("{name}: renewed, valid for {lasts}"));
    Ok(Exit::Success)
}

/// Gives permits back.
pub(super) fn release(
    global: &Global,
    args: &NameAndTicket,
    voice: Voice,
) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal release", async |seinpaal| {
        seinpaal.semaphore(&args.name).release_ticket(args.ticket).await?;
        voice.explain(format!("{}: released", args.name));
        Ok(Exit::Success)
    })
}
