//! What waiting and holding cost: commands, order, deaths, sizes.
//!
//! ```text
//! cargo bench -p seinpaal --bench costs              everything, about two minutes
//! cargo bench -p seinpaal --bench costs -- --quick   shorter windows, without the silent waiter
//! cargo bench -p seinpaal --bench costs -- heads     some of: cycles contended waiting heads masses
//! ```
//!
//! It starts its own `redis-server` and counts at the server, by `MONITOR`: the commands that
//! clients sent, not those that scripts call. Rows with a bound are about counts and order; the
//! program ends with 1 if one is missed. Times are for reading only: they never decide anything.
//! The peers' figures were measured with their own code on a loopback Redis 7.0.15 (20 ms hold,
//! closed loop) and are shapes, not records. AAS is asyncio-advanced-semaphores, and npm is
//! the package redis-semaphore there.

mod child;
mod contended;
mod cycles;
mod heads;
mod heard;
mod masses;
mod server;
mod table;
mod waiting;

use std::process::ExitCode;

use server::Server;
use table::Table;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    if child::was_started_as_one() {
        runtime.block_on(child::run());
        return ExitCode::SUCCESS;
    }
    allow_many_files();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    runtime.block_on(measure(&arguments))
}

async fn measure(arguments: &[String]) -> ExitCode {
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let sections: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted =
        |name: &str| sections.is_empty() || sections.iter().any(|argument| *argument == name);
    let (mut server, mut table) = (Server::start(), Table::new());
    if is_wanted("cycles") {
        cycles::counted(&server, &mut table).await;
        cycles::timed(&mut server, &mut table).await;
    }
    if is_wanted("contended") {
        contended::fifty(&server, &mut table).await;
        contended::two_hundred(&server, &mut table).await;
    }
    if is_wanted("waiting") {
        waiting::processes(&server, is_quick, &mut table).await;
        waiting::tasks(&server, is_quick, &mut table).await;
    }
    if is_wanted("heads") {
        heads::dead(&server, &mut table).await;
        heads::silent(&server, is_quick, &mut table).await;
    }
    if is_wanted("masses") {
        masses::all(&mut server, &mut table).await;
    }
    table.verdict()
}

/// Two hundred connections in one process need more descriptors than a shell's usual 1024.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
