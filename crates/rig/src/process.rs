//! Processes on free ports. Every server of this crate is one.

use std::{
    io,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// How long a server may take to start, and servers to agree, on a busy machine. No verdict depends
/// on this time.
pub(crate) const BOUND: Duration = Duration::from_secs(60);
/// How often to try another port: another process may take a free port before the server does.
pub(crate) const TRIES: usize = 5;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Waits until a condition holds.
///
/// # Panics
/// With `what`, if that takes more than a minute.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        // A real process does not signal that it is ready, so this loop asks again and again. Only
        // whether the condition came true counts, and never how fast.
        thread::park_timeout(LOOK_EVERY);
    }
}

/// Returns a port that nobody listens on.
pub fn free_port() -> u16 {
    free_ports(1)[0]
}

/// Returns ports that nobody listens on, all different.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    let bind = |_| TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let listeners: Vec<_> = (0..count).map(bind).collect();
    listeners.iter().map(|it| it.local_addr().expect("an address").port()).collect()
}

/// Sends a signal to a process that we started and have not waited for.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal); // an error means that the process has ended
    }
}

/// Kills a process, and waits for its end.
pub(crate) fn end(child: &mut Child) {
    let _ = (child.kill(), child.wait()); // errors mean that it has ended
}

/// Starts a process that kills these servers and removes their directories when this program ends.
/// Servers in a static need that process, because Rust does not drop statics.
pub(crate) fn end_with_this_program<'a>(servers: impl Iterator<Item = (u32, &'a Path)>) -> Child {
    let clean_up = "read -r _; while [ $# -gt 1 ]; do kill -9 \"$1\"; rm -rf \"$2\"; shift 2; done";
    let mut shell = Command::new("sh");
    shell.args(["-c", clean_up, "sh"]);
    for (pid, directory) in servers {
        shell.arg(pid.to_string()).arg(directory);
    }
    // The shell's standard input ends, and the shell kills the servers, when this program has
    // ended.
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().expect("a shell")
}

/// Starts a program. If the program is missing, the error says how to get it.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    command.spawn().map_err(|error| {
        let program = command.get_program().display();
        io::Error::new(
            error.kind(),
            format!("{program} does not start ({error}): run ./test, which installs it"),
        )
    })
}
