//! Histories of a queue in words.

use seinpaal_proto::queue::{Request, Standing, What};

use super::{
    action::Action,
    bounds::{Bounds, PlayedEnd},
    world::World,
};
use crate::{
    bounds::TICK,
    story::{ToldStep, befalls, letter, mangles, tell_steps},
    traffic::Load,
};

/// Tells a history from the beginning, a line a step, with the state of the items after each step.
pub(super) fn tell(bounds: &Bounds, actions: &[Action]) -> String {
    let mut world = World::new(bounds);
    let begin = world.now;
    tell_steps(actions, |action| {
        let says = says(&world, action);
        world.act(bounds, action);
        ToldStep { at: (world.now - begin) / TICK, says, stands: stands(&world) }
    })
}

fn says(world: &World, action: Action) -> String {
    match action {
        Action::Push => format!("A pushes item {}", world.pushed),
        Action::Cancel(nth) => format!("A cancels item {nth}"),
        Action::Pop(who) => format!("{} wants items", letter(who)),
        Action::Finish(who, nth, end) => {
            let held = world.clients.get(who).and_then(|client| client.held.get(nth));
            let item = held.and_then(|held| world.nth(held.delivery.id));
            format!("{} {} item {}", letter(who), ends(end), item.unwrap_or(usize::MAX))
        }
        Action::Deliver(at) => format!("{} arrives", parcel_says(world, at)),
        Action::Tick => String::from("a second passes"),
        Action::Resume(who) => format!("{} goes on", letter(who)),
        Action::Hear(who) => format!("{} listens again", letter(who)),
        Action::Forward => String::from("the store's clock is set forward"),
        Action::Backward => String::from("the store's clock is set back"),
        Action::Befall(fault, who) => format!("{} {}", letter(who), befalls(fault)),
        Action::Mangle(fault, at) => format!("{} {}", parcel_says(world, at), mangles(fault)),
    }
}

fn ends(end: PlayedEnd) -> &'static str {
    match end {
        PlayedEnd::Acknowledge => "acknowledges",
        PlayedEnd::GiveBack => "gives back",
        PlayedEnd::GiveBackLater => "gives back for later",
        PlayedEnd::Fail => "fails at",
        PlayedEnd::FailLater => "fails, for later, at",
    }
}

fn parcel_says(world: &World, at: usize) -> String {
    let Some(parcel) = world.parcels.get(at) else { return String::from("nothing") };
    match &parcel.load {
        Load::Request { from, call, batch } => {
            let copy = if call.is_some() { "" } else { "a stray copy of " };
            format!("{copy}{}'s request to {}", letter(*from), requests_say(&batch.requests))
        }
        Load::Replies { to, .. } => format!("the reply to {}", letter(*to)),
        Load::Wakeup { to, wakeup } => {
            let what = match wakeup.what {
                What::Called => "call",
                What::Watch { .. } => "request to watch",
                _ => "word of a loss",
            };
            format!("the {what} to {}", letter(*to))
        }
    }
}

fn requests_say(requests: &[Request]) -> String {
    let words = requests.iter().map(|request| match request {
        Request::Push(_) => "push",
        Request::Pop(_) => "pop",
        Request::Renew(_) => "renew",
        Request::Finish { .. } => "finish",
        Request::Leave => "leave",
        Request::Cancel { .. } => "cancel",
        _ => "look",
    });
    let words: Vec<&str> = words.collect();
    if words.is_empty() { String::from("look") } else { words.join(" + ") }
}

fn stands(world: &World) -> String {
    let items = world.ledger.all_items().map(|item| {
        let standing = match &item.standing {
            Standing::Ready { .. } => "ready".to_owned(),
            Standing::Delayed { .. } => "delayed".to_owned(),
            Standing::Dead { .. } => "dead".to_owned(),
            Standing::InWork(work) => {
                let by = world.clients.iter().position(|client| client.inbox == work.by);
                format!("in work at {}", by.map_or('?', letter))
            }
        };
        format!("item {} {standing}", item.about)
    });
    items.collect::<Vec<_>>().join(", ")
}
