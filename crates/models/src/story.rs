//! Histories in words.

use std::fmt::Write;

use seinpaal_proto::{Request, Standing, Ticket};

use crate::{
    bounds::{Bounds, ModelFault, Rule, Steer, TICK},
    traffic::Load,
    world::{Action, World},
};

/// A client's name: A, B, C.
#[must_use]
pub fn letter(who: usize) -> char {
    char::from(b'A' + u8::try_from(who % 26).unwrap_or(0))
}

/// Tells a history from the beginning, a line a step, with the holders and waiters after each step.
#[must_use]
pub fn tell(bounds: &Bounds, actions: &[Action]) -> String {
    let mut world = World::new(bounds);
    let begin = world.now;
    tell_steps(actions, |action| {
        let says = says(&world, action);
        world.act(bounds, action);
        ToldStep { at: (world.now - begin) / TICK, says, stands: stands(&world) }
    })
}

/// A step of a history in words.
pub(crate) struct ToldStep {
    /// The time of the step, in ticks from the beginning.
    pub(crate) at: u64,
    pub(crate) says: String,
    /// The state of the world after the step.
    pub(crate) stands: String,
}

/// Tells steps, a line each. A line has the state of the world if that has changed.
pub(crate) fn tell_steps<A: Copy>(actions: &[A], mut take: impl FnMut(A) -> ToldStep) -> String {
    let (mut story, mut before) = (String::new(), String::new());
    for (nth, action) in actions.iter().enumerate() {
        let ToldStep { at, says, stands } = take(*action);
        let _ = write!(story, "{:>3}. {at:>3} s  {says}", nth + 1);
        if stands != before {
            let _ = write!(story, "  [{stands}]");
            before = stands;
        }
        story.push('\n');
    }
    story
}

fn says(world: &World, action: Action) -> String {
    match action {
        Action::Want(who, permits, rule, slot) => {
            let wish =
                if slot.is_empty() { String::new() } else { format!(", slot {slot} among them") };
            format!("{} wants {permits}{}{wish}", letter(who), states(rule, world))
        }
        Action::Release(who, _) => format!("{} gives back what it holds", letter(who)),
        Action::Cancel(who, _) => format!("{} does not want to wait any more", letter(who)),
        Action::Attach(who, ticket) => {
            format!("{} attaches to what {}", letter(who), whose(world, ticket))
        }
        Action::Detach(who, _) => format!("{} leaves what it holds to itself", letter(who)),
        Action::Operate(steer, ticket) => operates(world, steer, ticket),
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

fn states(rule: Rule, world: &World) -> String {
    match rule {
        _ if world.ghost.terms.is_none() => String::new(),
        Rule::Nothing => String::from(" and states no limit"),
        Rule::Refuse(limit) => format!(" of {limit}"),
        Rule::Adopt(limit) => format!(" of {limit}, or of as many as there are"),
        Rule::Set(limit) => format!(" and sets the limit to {limit}"),
        Rule::Exact(limit) => format!(" of exactly {limit}"),
    }
}

fn whose(world: &World, ticket: Ticket) -> String {
    let inbox = world.holders().find(|entry| entry.ticket == ticket).map(|entry| entry.inbox);
    let owner = world.clients.iter().position(|client| inbox == Some(Some(client.inbox)));
    owner.map_or_else(|| String::from("nobody keeps"), |who| format!("{} holds", letter(who)))
}

fn operates(world: &World, steer: Steer, ticket: Option<Ticket>) -> String {
    let what = ticket.map(|ticket| whose(world, ticket)).unwrap_or_default();
    match steer {
        Steer::Release => format!("an operator gives back what {what}"),
        Steer::Evict => format!("an operator ends what {what}"),
        Steer::Renew => format!("a script renews what {what}"),
        Steer::Pin(limit) => format!("an operator pins the limit to {limit}"),
        Steer::Name(names) => format!("an operator calls the slots {names}"),
        Steer::Unpin => String::from("an operator lets go of the limit"),
        Steer::Attach | Steer::Detach => String::from("an operator does nothing"),
    }
}

pub(crate) fn befalls(fault: ModelFault) -> &'static str {
    match fault {
        ModelFault::Break => "loses its connection while it waits for an answer",
        ModelFault::Crash => "crashes, and the store notices",
        ModelFault::Vanish => "crashes, and nobody notices",
        ModelFault::Pause => "is paused",
        ModelFault::Deaf => "does not listen for a while",
        ModelFault::Repeat | ModelFault::Delay | ModelFault::LoseWakeup => "is unharmed",
    }
}

pub(crate) fn mangles(fault: ModelFault) -> &'static str {
    match fault {
        ModelFault::Repeat => "is copied on the way",
        ModelFault::Delay => "is delayed",
        ModelFault::LoseWakeup => "is lost",
        _ => "is unharmed",
    }
}

/// Describes requests in a few words.
#[must_use]
pub fn requests_say(requests: &[Request]) -> String {
    let words = requests.iter().map(|request| match request {
        Request::Acquire(_) => "acquire",
        Request::Renew(_) => "renew",
        Request::Release { .. } => "release",
        Request::Cancel { .. } => "cancel",
        Request::Attach(_) => "attach",
        Request::Detach { .. } => "detach",
        _ => "look",
    });
    let words: Vec<&str> = words.collect();
    if words.is_empty() { String::from("look") } else { words.join(" + ") }
}

fn stands(world: &World) -> String {
    let (mut holds, mut waits) = (String::new(), String::new());
    for entry in world.entries() {
        let who = if entry.0 < world.clients.len() { letter(entry.0) } else { '-' };
        match entry.1 {
            Standing::Holding { .. } => holds.push(who),
            Standing::Waiting { .. } => waits.push(who),
        }
    }
    format!("store: {holds} hold, {waits} wait; believed: {}", world.believed())
}

/// Describes a parcel in a few words.
fn parcel_says(world: &World, at: usize) -> String {
    let Some(parcel) = world.parcels.get(at) else { return String::from("nothing") };
    match &parcel.load {
        Load::Request { from, call, batch } => {
            let copy = if call.is_some() { "" } else { "a stray copy of " };
            format!("{copy}{}'s request to {}", letter(*from), requests_say(&batch.requests))
        }
        Load::Replies { to, .. } => format!("the reply to {}", letter(*to)),
        Load::Wakeup { to, .. } => format!("a wakeup to {}", letter(*to)),
    }
}
