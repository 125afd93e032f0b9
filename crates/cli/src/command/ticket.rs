//! `renew` and `release`, which need the ticket of `acquire`. The module also finds the ticket that
//! a user has written in short.

use std::time::Duration;

use seinpaal::{Semaphore, Snapshot, Ticket};

use crate::{
    args::{Global, NameAndTicket, RenewArgs, TicketStart},
    connection::{ask, ask_at},
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        ticket::{short, tickets},
    },
    settings,
};

/// Extends a lease.
pub(super) fn renew(global: &Global, args: &RenewArgs, voice: Voice) -> Result<Exit, Failure> {
    let NameAndTicket { name, ticket } = &args.which;
    let choice = settings::choose(global)?;
    let (ticket, valid_for) =
        ask_at(&choice, Duration::ZERO, voice, "seinpaal renew", name, async |seinpaal| {
            let semaphore = seinpaal.semaphore(name);
            let ticket = find(&semaphore, ticket).await?;
            Ok((ticket, semaphore.renew_ticket(ticket, args.ttl).await?))
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
    ask(global, voice, "seinpaal release", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        semaphore.release_ticket(find(&semaphore, &args.ticket).await?).await?;
        voice.explain(format!("{}: released", args.name));
        Ok(Exit::Success)
    })
}

/// Finds the ticket that the user means. A whole ticket is returned unchanged. Otherwise exactly
/// one ticket of the name must begin in this way.
pub(super) async fn find(semaphore: &Semaphore, start: &TicketStart) -> Result<Ticket, Failure> {
    if let Some(ticket) = start.whole() {
        return Ok(ticket);
    }
    among(&semaphore.snapshot().await?, start)
}

/// Finds the only ticket in a snapshot that the user can mean.
pub(super) fn among(snapshot: &Snapshot, start: &TicketStart) -> Result<Ticket, Failure> {
    if start.whole().is_none() {
        all_are_listed(snapshot, start)?;
    }
    let fitting = tickets(snapshot).filter(|ticket| start.means(*ticket)).collect::<Vec<_>>();
    match fitting.as_slice() {
        [ticket] => Ok(*ticket),
        [] => Err(Failure::new(
            Exit::Lost,
            format!(
                "no ticket of this name begins with {start}; `seinpaal show` lists its tickets"
            ),
        )),
        [one, other, ..] => Err(Failure::usage(format!(
            "{} tickets of this name begin with {start}, among them {} and {}: give more digits",
            fitting.len(),
            short(snapshot, *one),
            short(snapshot, *other),
        ))),
    }
}

/// Checks that the snapshot lists all tickets. Otherwise a short ticket might mean one that is not
/// listed.
fn all_are_listed(snapshot: &Snapshot, start: &TicketStart) -> Result<(), Failure> {
    let (held, waiting) = (snapshot.holders.len() as u64, snapshot.waiters.len() as u64);
    let all = u64::from(snapshot.holders_total) + u64::from(snapshot.waiting_total);
    match all.saturating_sub(held + waiting) {
        0 => Ok(()),
        others => Err(Failure::usage(format!(
            "{others} tickets of this name are not listed, and one of them may begin with {start}: give all 32 digits"
        ))),
    }
}
