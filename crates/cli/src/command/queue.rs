//! The commands of `queue`, one in each module. `work` is in [`run`].

pub(crate) mod dead;
pub(crate) mod items;
mod limit;
mod lines;
mod list;
mod push;
pub(crate) mod show;
mod steer;

use crate::{
    args::{Global, queue::QueueSubcommand},
    exit::{Exit, Failure},
    output::Voice,
    run,
};

pub(super) fn queue(
    global: &Global,
    command: &QueueSubcommand,
    voice: Voice,
) -> Result<Exit, Failure> {
    match command {
        QueueSubcommand::Push(args) => push::push(global, args, voice),
        QueueSubcommand::Work(args) => run::work(global, args, voice),
        QueueSubcommand::Show(args) => show::show(global, args, voice),
        QueueSubcommand::List(args) => list::list(global, args, voice),
        QueueSubcommand::Items(args) => items::items(global, args, voice),
        QueueSubcommand::Dead(args) => dead::dead(global, args, voice),
        QueueSubcommand::Limit(args) => limit::limit(global, args, voice),
        QueueSubcommand::Pause(args) => steer::pause(global, args, voice),
        QueueSubcommand::Resume(args) => steer::resume(global, args, voice),
        QueueSubcommand::Purge(args) => steer::purge(global, args, voice),
        QueueSubcommand::Cancel(args) => steer::cancel(global, args, voice),
    }
}
