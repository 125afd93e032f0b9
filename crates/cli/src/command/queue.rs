//! `queue`: one module a command, but for `work`, which is in [`run`].

pub(crate) mod dead;
mod limit;
mod lines;
mod list;
mod push;
pub(crate) mod show;
mod steer;

use crate::{
    args::{Global, queue::QueueCommand},
    exit::{Exit, Failure},
    output::Voice,
    run,
};

pub(super) fn queue(
    global: &Global,
    command: &QueueCommand,
    voice: Voice,
) -> Result<Exit, Failure> {
    match command {
        QueueCommand::Push(args) => push::push(global, args, voice),
        QueueCommand::Work(args) => run::work(global, args, voice),
        QueueCommand::Show(args) => show::show(global, args, voice),
        QueueCommand::List(args) => list::list(global, args, voice),
        QueueCommand::Dead(args) => dead::dead(global, args, voice),
        QueueCommand::Limit(args) => limit::limit(global, args, voice),
        QueueCommand::Pause(args) => steer::pause(global, args, voice),
        QueueCommand::Resume(args) => steer::resume(global, args, voice),
        QueueCommand::Purge(args) => steer::purge(global, args, voice),
        QueueCommand::Cancel(args) => steer::cancel(global, args, voice),
    }
}
