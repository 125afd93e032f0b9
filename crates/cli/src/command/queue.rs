//! `queue`: one module a command, but for `work`, which is in [`run`].

pub(crate) mod dead;
mod limit;
mod lines;
mod list;
mod push;
pub(crate) mod show;
mod steer;

use crate::{
    args::{Global, queue::Queue},
    exit::{Exit, Failure},
    output::Voice,
    run,
};

pub(super) fn queue(global: &Global, command: &Queue, voice: Voice) -> Result<Exit, Failure> {
    match command {
        Queue::Push(args) => push::push(global, args, voice),
        Queue::Work(args) => run::work(global, args, voice),
        Queue::Show(args) => show::show(global, args, voice),
        Queue::List(args) => list::list(global, args, voice),
        Queue::Dead(args) => dead::dead(global, args, voice),
        Queue::Limit(args) => limit::limit(global, args, voice),
        Queue::Pause(args) => steer::pause(global, args, voice),
        Queue::Resume(args) => steer::resume(global, args, voice),
        Queue::Purge(args) => steer::purge(global, args, voice),
        Queue::Cancel(args) => steer::cancel(global, args, voice),
    }
}
