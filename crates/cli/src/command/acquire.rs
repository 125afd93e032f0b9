//! `acquire`: permits without a command, kept by whoever has the ticket.

use seinpaal::Detached;

use crate::{
    args::{Acquire, Global},
    command::{connect, on_runtime},
    exit::{Exit, Failure},
    output::{self, Voice, json},
    run::{Entrance, Events, Signals},
    settings,
};

/// Takes permits and prints their ticket.
pub(super) fn acquire(global: &Global, args: &Acquire, voice: Voice) -> Result<Exit, Failure> {
    let choice = settings::choose(global)?;
    on_runtime(async {
        let mut signals = Signals::listen()?;
        let client = "seinpaal acquire";
        let seinpaal = connect(&choice, args.entry.ttl, client, voice, &mut signals).await?;
        let entrance = Entrance { seinpaal: &seinpaal, entry: &args.entry, also: &[], voice };
        let permits = entrance.enter(&mut Events::none(), &mut signals).await?;
        let permit = permits.into_permits().pop();
        let permit = permit.ok_or_else(|| Failure::internal("acquired nothing".to_owned()))?;
        let detached = permit.detach().await.map_err(|error| Failure::new(Exit::Lost, error))?;
        let printed = output::print(&text(global, args, &detached));
        if printed.is_err() {
            // Nobody has the ticket: nobody could give the permits back.
            let _ = seinpaal.semaphore(&args.entry.name).release_ticket(detached.ticket).await;
        }
        printed.map(|()| Exit::Success)
    })
}

fn text(global: &Global, args: &Acquire, detached: &Detached) -> String {
    if !global.json {
        return format!("{}\n", detached.ticket);
    }
    json::line(&json::Acquired {
        name: &args.entry.name,
        ticket: detached.ticket.to_string(),
        fence: detached.fence.0,
        slots: json::slots(&detached.slots),
        permits: detached.slots.count(),
        limit: detached.limit,
        valid_for_ms: detached.valid_for.map(|left| left.as_millis()),
    })
}
