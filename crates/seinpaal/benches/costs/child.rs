//! Clients in processes of their own: the program runs itself again and reads the output.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdout, Command, Stdio},
};

use seinpaal::Seinpaal;

const URL: &str = "SEINPAAL_COSTS_URL";
const NAME: &str = "SEINPAAL_COSTS_NAME";

/// A process that waits for a permit, and then holds it until it is told to end.
pub(crate) struct Waiter {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Waiter {
    pub(crate) fn start(url: &str, name: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("the program knows itself"));
        command.env(URL, url).env(NAME, name).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the program runs");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Self { process, output }
    }

    /// Waits until the process stands in line.
    pub(crate) fn until_queued(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the child speaks");
        assert_eq!(line, "queued\n");
    }

    /// Kills the process, and returns when the kernel has closed its files.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("the child runs");
        self.process.wait().expect("the child ends");
    }

    /// Stops the process. Its connections stay open, and it sends nothing more.
    pub(crate) fn stop(&self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("the child runs");
    }
}

pub(crate) fn was_started_as_one() -> bool {
    env::var_os(URL).is_some()
}

/// The child's side.
pub(crate) async fn run() {
    let (url, name) = (env::var(URL).expect("a URL"), env::var(NAME).expect("a name"));
    let seinpaal = Seinpaal::connect(&url).await.expect("the store is there");
    let semaphore = seinpaal.semaphore(&name).limit(1);
    let is_over = until_input_ends();
    let acquire = semaphore.acquire().on_queued(|_| say("queued"));
    tokio::select! {
        permit = acquire => { permit.expect("a permit"); say("granted"); }
        () = is_over => {}
    }
}

fn say(what: &str) {
    println!("{what}");
    std::io::stdout().flush().expect("the parent reads");
}

async fn until_input_ends() {
    let (sender, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    let _ = ended.await;
}
