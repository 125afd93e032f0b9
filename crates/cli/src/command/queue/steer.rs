//! `queue pause`, `resume`, `purge` and `cancel`.

use seinpaal::ItemState;

use super::{
    dead::{one_has_a_number, print_count},
    items::all_that_match,
};
use crate::{
    args::{
        Global,
        queue::{OneQueue, QueueCancelArgs, QueuePauseArgs, Which},
    },
    connection::ask,
    exit::{Exit, Failure},
    output::Voice,
};

/// Pauses a queue.
pub(super) fn pause(global: &Global, args: &QueuePauseArgs, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal queue pause", &args.name, async |seinpaal| {
        seinpaal.queue(&args.name).pause(&args.reason).await?;
        voice.explain(format!("{}: paused", args.name));
        Ok(Exit::Success)
    })
}

/// Resumes a queue.
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
    print_count(global, &args.name, removed).map(|()| Exit::Success)
}

/// The states in the order in which items move on. An item that moves on during the work is found
/// again in its next state.
const NOT_DEAD: [ItemState; 3] = [ItemState::Delayed, ItemState::Ready, ItemState::InWork];

/// Takes out one item, or all that match.
pub(super) fn cancel(
    global: &Global,
    args: &QueueCancelArgs,
    voice: Voice,
) -> Result<Exit, Failure> {
    let matching = all_that_match(args.matching.as_deref());
    only_of_some(args)?;
    let states = args.state.as_ref().map_or(&NOT_DEAD[..], std::slice::from_ref);
    ask(global, voice, "seinpaal queue cancel", &args.name, async |seinpaal| {
        let queue = seinpaal.queue(&args.name);
        let id = match args.id {
            Which::One(id) => id,
            Which::All => {
                let mut cancelled = 0;
                for state in states {
                    cancelled += queue.remove_all(*state, |item| matching.has(item)).await?;
                }
                print_count(global, &args.name, cancelled)?;
                return Ok(Exit::Success);
            }
        };
        let was = queue.cancel(id).await?;
        voice.explain(format!("{}: cancelled item {id}, which was {}", args.name, words(was)));
        Ok(Exit::Success)
    })
}

/// Refuses `all` without a condition, so that no slip of the user removes all items. Also refuses a
/// condition beside the number of one item.
fn only_of_some(args: &QueueCancelArgs) -> Result<(), Failure> {
    let chooses = args.matching.is_some() || args.state.is_some();
    let usage = |words: &str| Err(Failure::new(Exit::Usage, words));
    match args.id {
        Which::One(_) if args.state.is_some() => {
            usage("--state chooses among all: write `all` instead of a number")
        }
        Which::One(_) if chooses => Err(one_has_a_number()),
        Which::All if args.state == Some(ItemState::Dead) => {
            usage("dead letters are dropped: write `queue dead NAME --drop all`")
        }
        Which::All if !chooses => {
            usage("`all` needs --matching, or --state: ready, delayed or in-work")
        }
        _ => Ok(()),
    }
}

fn words(was: ItemState) -> &'static str {
    match was {
        ItemState::InWork => "in work",
        was => was.word(),
    }
}
