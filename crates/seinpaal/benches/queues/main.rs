//! What queues cost and how late they are: due items, idle workers, full groups.
//!
//! ```text
//! cargo bench -p seinpaal --bench queues              everything, about eight minutes
//! cargo bench -p seinpaal --bench queues -- --quick   fewer items, shorter windows
//! cargo bench -p seinpaal --bench queues -- due       some of: due idle groups
//! ```
//!
//! Workers are processes of their own. Commands are counted at the server: those that clients sent,
//! not those that scripts call. Rows with a bound are about counts; the program ends with 1 if one
//! is missed. Times are for reading only. Against peers: bench/queues.

mod crew;
mod due;
mod groups;
mod hour;
mod idle;
#[path = "../costs/server.rs"]
#[allow(dead_code)] // the other program asks for more
mod server;
#[path = "../costs/table.rs"]
#[allow(dead_code)]
mod table;

use std::process::ExitCode;

use server::Server;
use table::Table;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    if crew::was_started_as_one() {
        runtime.block_on(crew::work());
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    runtime.block_on(measure(&arguments))
}

async fn measure(arguments: &[String]) -> ExitCode {
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let sections: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted =
        |name: &str| sections.is_empty() || sections.iter().any(|argument| *argument == name);
    let mut table = Table::new();
    for kind in ["redis", "embedded"] {
        let place = Place::new(kind);
        if is_wanted("due") {
            due::same_second(&place, is_quick, &mut table).await;
        }
        if is_wanted("groups") {
            groups::one_takes_all(&place, is_quick, &mut table).await;
        }
    }
    if is_wanted("idle") {
        hour::simulated(&mut table);
        let server = Server::start();
        for workers in [1, 8] {
            idle::window(&server, workers, is_quick, &mut table).await;
        }
    }
    table.verdict()
}

/// Where the items are.
struct Place {
    kind: &'static str,
    server: Option<Server>,
    dir: tempfile::TempDir,
}

impl Place {
    fn new(kind: &'static str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { kind, server: (kind == "redis").then(Server::start), dir }
    }

    fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("file://{}", self.dir.path().display()),
        }
    }
}
