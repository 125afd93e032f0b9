//! `acquire`: permits without a command. The owner of the ticket keeps them.

use std::{io, thread};

use seinpaal::{AdminError, Detached, Seinpaal};
use tokio::sync::oneshot;

use crate::{
    args::{AcquireArgs, Global},
    connection::{connect, on_runtime, patience_of},
    exit::{Exit, Failure},
    keeper,
    output::{self, NamedStore, Voice, json, text::age},
    run::{Entrance, Events, Signals, unless_ended},
    settings,
};

/// Takes permits and prints their ticket.
pub(super) fn acquire(global: &Global, args: &AcquireArgs, voice: Voice) -> Result<Exit, Failure> {
    if let Some(pid) = args.while_pid {
        return keeper::start(global, args, pid, voice);
    }
    let choice = settings::choose(global)?;
    let subject = NamedStore::new(&args.entry.name, &choice.url);
    on_runtime(async {
        let mut signals = Signals::listen()?;
        let (ttl, patience) = (args.entry.ttl, patience_of(&choice, &args.entry));
        let connecting = connect(&choice, ttl, "seinpaal acquire", patience, voice, &mut signals);
        let seinpaal = connecting.await.map_err(|failure| failure.about(subject))?;
        let entrance = Entrance {
            seinpaal: &seinpaal,
            entry: &args.entry,
            also: &[],
            within: &[],
            held: &[],
            to_detach: true,
            subject,
            voice,
        };
        let permits = entrance.enter(&Events::none(), &mut signals).await?;
        let handed_out = hand_out(global, args, permits, &seinpaal, &mut signals).await;
        handed_out.map(|()| Exit::Success).map_err(|failure| failure.about(subject))
    })
}

/// Prints the ticket. If that fails, it gives the permits back at once, because without the ticket
/// nobody else could.
async fn hand_out(
    global: &Global,
    args: &AcquireArgs,
    permits: seinpaal::PermitSet,
    seinpaal: &Seinpaal,
    signals: &mut Signals,
) -> Result<(), Failure> {
    // There is just one permit, because `acquire` has neither --also nor --within.
    let permit = permits.into_permits().pop();
    let permit = permit.ok_or_else(|| Failure::internal("acquired nothing"))?;
    let slot_names = permit.slot_names().into_iter().map(str::to_owned).collect();
    let detached = permit.detach().await.map_err(|error| Failure::new(Exit::Lost, error))?;
    let text = text(global, args, &detached, slot_names);
    let (exit, why) = match unless_ended(signals, printed(text)).await {
        Ok(Ok(Ok(()))) => return Ok(()),
        Ok(Ok(Err(error))) => {
            (output::exit_for(&error), format!("cannot write the ticket to stdout: {error}"))
        }
        Ok(Err(_)) => (Exit::Internal, "cannot write the ticket to stdout".to_owned()),
        Err(Failure { exit, .. }) => {
            (exit, "stopped by a signal before anybody read the ticket".to_owned())
        }
    };
    let released = seinpaal.semaphore(&args.entry.name).release_ticket(detached.ticket).await;
    Err(Failure::new(exit, format!("{why}; {}", what_became(&detached, released.err()))))
}

/// Writes in a separate thread, so that signals still end the program if nobody reads stdout.
fn printed(text: String) -> oneshot::Receiver<io::Result<()>> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || tell.send(output::write(&text)));
    told
}

fn what_became(detached: &Detached, error: Option<AdminError>) -> String {
    match error {
        None => "the permits were given back".to_owned(),
        Some(error) => {
            let left = detached.valid_for.map(|left| format!(" in {}", age(left)));
            let left = left.unwrap_or_default();
            format!("the permits may be held until their lease ends{left} ({error})")
        }
    }
}

fn text(
    global: &Global,
    args: &AcquireArgs,
    detached: &Detached,
    slot_names: Vec<String>,
) -> String {
    if !global.json {
        return format!("{}\n", detached.ticket);
    }
    json::line(&json::Acquired {
        name: &args.entry.name,
        ticket: detached.ticket.to_string(),
        fence: detached.fence.0,
        slots: json::slots(&detached.slots),
        slot_names,
        permits: detached.slots.count(),
        limit: detached.limit,
        valid_for_ms: detached.valid_for.map(|left| left.as_millis()),
    })
}
