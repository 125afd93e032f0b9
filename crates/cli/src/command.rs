//! The commands, one in each module, and the code that starts and ends all of them.

mod acquire;
mod bench;
mod doctor;
mod documents;
mod limit;
pub(crate) mod list;
pub(crate) mod queue;
mod serve;
pub(crate) mod show;
pub(crate) mod steer;
mod ticket;
mod unused;

use std::{env, ffi::OsString, panic::catch_unwind};

use clap::{CommandFactory, error::ErrorKind};

use crate::{
    args::{Arguments, CliCommand, Global},
    exit::{Exit, Failure},
    keeper::{self, KeeperOrder},
    output::{self, Voice, text::plain, voice},
    run::{self, guard},
    top,
};

/// Carries out the command line. Returns the exit status, even after a panic.
pub(crate) fn main() -> u8 {
    voice::say_panics();
    catch_unwind(carry_out).unwrap_or_else(|_| Exit::Internal.code())
}

/// Reads and obeys the command line, and prints the reason of a failure. Returns the exit status.
fn carry_out() -> u8 {
    // These arguments are read before clap sees the line, because clap does not know them. They
    // make this program one of the processes that a `run` starts beside CMD.
    if env::args_os().nth(1).is_some_and(|first| first == guard::ARGUMENT) {
        return guard::watch::main();
    }
    if env::args_os().nth(1).is_some_and(|first| first == keeper::WATCHER) {
        return keeper::watch();
    }
    let (order, words) = KeeperOrder::split(env::args_os().collect());
    let (voice, result) = match Arguments::read(&words) {
        Ok(arguments) => obey(&arguments, order),
        Err(error) => (Voice::new(false, 0), explain(&error)),
    };
    let exit = result.unwrap_or_else(|Failure { exit, message }| {
        if let Some(message) = message {
            voice.say(message);
        }
        exit
    });
    output::voice::part();
    // The connection was dropped before, so every waiting request leaves its line. `blocking::part`
    // says why this call is needed.
    seinpaal::blocking::part();
    exit.code()
}

/// Obeys the line, as a keeper if an order stands before it.
fn obey(arguments: &Arguments, order: Option<KeeperOrder>) -> (Voice, Result<Exit, Failure>) {
    let global = &arguments.global;
    let voice = Voice::new(global.quiet, global.verbose);
    if voice.is_detailed() {
        output::log::start();
    }
    let result = match (&arguments.command, order) {
        (CliCommand::Acquire(args), Some(order)) => keeper::keep(global, args, &order, voice),
        (command, _) => dispatch(global, command, voice),
    };
    (voice, result)
}

fn dispatch(global: &Global, command: &CliCommand, voice: Voice) -> Result<Exit, Failure> {
    match command {
        CliCommand::Run(args) => run::run(global, args, voice),
        CliCommand::Acquire(args) => acquire::acquire(global, args, voice),
        CliCommand::Renew(args) => ticket::renew(global, args, voice),
        CliCommand::Release(args) => ticket::release(global, args, voice),
        CliCommand::List(args) => list::list(global, args, voice),
        CliCommand::Show(args) => show::show(global, args, voice),
        CliCommand::Limit(args) => limit::limit(global, args, voice),
        CliCommand::Pause(args) => steer::pause(global, args, voice),
        CliCommand::Resume(args) => steer::resume(global, args, voice),
        CliCommand::Evict(args) => steer::evict(global, args, voice),
        CliCommand::Top(args) => top::top(global, args, voice),
        CliCommand::Queue { command } => queue::queue(global, command, voice),
        CliCommand::Serve(args) => serve::serve(global, args, voice),
        CliCommand::Doctor(args) => doctor::doctor(global, args, voice),
        CliCommand::Bench(args) => bench::bench(global, args, voice),
        CliCommand::Completions(args) => documents::completions(args),
        CliCommand::Man(args) => documents::man(args),
    }
}

/// Prints clap's help on stdout. Every other message of clap becomes one line and a usage error.
fn explain(error: &clap::Error) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.render().to_string()).map(|()| Exit::Success)
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::usage("no command given (--help lists them)"))
        }
        ErrorKind::InvalidUtf8 => Err(Failure::usage(invalid_utf8())),
        _ => Err(Failure::usage(format!("{} (see `{} --help`)", without_usage(error), command()))),
    }
}

/// Describes the argument that is not UTF-8, because clap does not name it. It is the first such
/// argument: CMD's own arguments may be any bytes, but they stand behind all of ours.
fn invalid_utf8() -> String {
    let mut arguments = env::args_os().enumerate().skip(1);
    let odd = arguments.find_map(|(at, argument)| Some((at, argument.into_string().err()?)));
    match odd {
        Some((at, argument)) => format!(
            "argument {at}, {}, is not UTF-8: names and flags are text, only CMD and what follows it may be any bytes",
            output::masked(&argument.to_string_lossy())
        ),
        None => "an argument is not UTF-8: names and flags are text".to_owned(),
    }
}

/// Returns the command whose flags or arguments were wrong, as far as the words tell it.
fn command() -> String {
    let (mut command, mut path) = (Arguments::command(), "seinpaal".to_owned());
    for word in env::args_os().skip(1).filter_map(|word| word.into_string().ok()) {
        match command.find_subcommand(&word).cloned() {
            Some(found) => (command, path) = (found, format!("{path} {word}")),
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    path
}

/// Returns clap's message and its suggestions as one line, without the usage. The message may
/// repeat an argument, and so a URL with a password that stands where no URL belongs.
fn without_usage(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut parts = text.split("\n\n").map(|part| {
        let lines: Vec<_> = part.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    });
    let mut words = parts.next().unwrap_or_default();
    for tip in parts.filter(|part| part.starts_with("tip: ")) {
        words.push_str(&format!("; {}", tip.replace("tip: ", "")));
    }
    let arguments: Vec<_> =
        env::args_os().map(OsString::into_string).filter_map(Result::ok).collect();
    let words = output::without_secrets(&words, arguments.iter().map(String::as_str));
    plain(words.strip_prefix("error: ").unwrap_or(&words)).into_owned()
}
