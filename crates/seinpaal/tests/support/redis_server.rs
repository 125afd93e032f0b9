//! Redis servers of a test's own: started in a temporary directory, stopped when dropped.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use seinpaal_conformance::servers::program;
use tempfile::TempDir;

/// A running `redis-server` without persistence.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    directory: TempDir,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl RedisServer {
    /// Starts one that listens on a Unix socket only.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// The same with more arguments, such as `["--maxmemory", "3mb"]`.
    pub fn with(arguments: &[&str]) -> Self {
        Self::within(arguments, Vec::new())
    }

    /// The same with more of an environment.
    pub fn within(arguments: &[&str], environment: Vec<(String, String)>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let arguments = arguments.iter().map(ToString::to_string).collect::<Vec<_>>();
        let child = launch(&directory, &arguments, &environment);
        Self { child, directory, arguments, environment }
    }

    /// Starts one whose environment names a language, as that of a service often does: Lua compares strings there as words
    /// are sorted, and not byte by byte.
    pub fn of_a_language() -> Self {
        let locales = tempfile::tempdir().expect("a temporary directory");
        let locale = locales.path().join("en_US.UTF-8");
        let made =
            Command::new("localedef").args(["-i", "en_US", "-f", "UTF-8"]).arg(locale).status();
        assert!(made.is_ok_and(|made| made.success()), "no locale: run ./test, which installs it");
        let named = |variable: &str, value: &str| (variable.to_owned(), value.to_owned());
        let place = locales.path().display().to_string();
        // Read when it starts.
        let server =
            Self::within(&[], vec![named("LC_ALL", "en_US.UTF-8"), named("LOCPATH", &place)]);
        assert!(server.sorts_words(), "this server compares bytes");
        server
    }

    /// Whether its Lua puts "a" before "B", as people do and bytes do not.
    fn sorts_words(&self) -> bool {
        let client = redis::Client::open(self.url("").replace("unix:", "redis+unix:"));
        let mut connection =
            client.and_then(|client| client.get_connection()).expect("a connection");
        let mut eval = redis::cmd("EVAL");
        let sorted = eval.arg("return 'a' < 'B' and 1 or 0").arg(0).query::<i64>(&mut connection);
        sorted.expect("an answer") == 1
    }

    /// Starts one that listens on a free port of this machine, too.
    pub fn on_port(arguments: &[&str]) -> (Self, u16) {
        let port = free_port();
        let port_text = port.to_string();
        let arguments = [&["--port", &port_text, "--bind", "127.0.0.1"], arguments].concat();
        (Self::with(&arguments), port)
    }

    /// Its URL, with options like `"?prefix=a:"`.
    pub fn url(&self, options: &str) -> String {
        format!("unix://{}{options}", self.socket().display())
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// The process, for those who look at what it costs.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn directory(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// Kills it; everything it knew is gone.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Stops it without ending it: it takes connections and answers nothing.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// Starts it again at the same place.
    pub fn start_again(&mut self) {
        self.child = launch(&self.directory, &self.arguments, &self.environment);
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn launch(directory: &TempDir, arguments: &[String], environment: &[(String, String)]) -> Child {
    let mut command = program::command();
    if !arguments.iter().any(|argument| argument == "--port") {
        command.args(["--port", "0"]);
    }
    let mut child = command
        .args(["--unixsocket", "redis.sock", "--save", "", "--appendonly", "no"])
        .args(arguments)
        .envs(environment.iter().cloned())
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server cannot be started: run ./test, which says how to get it");
    wait_until_ready(&mut child);
    child
}

/// The server says when it is ready; what it says afterwards is read and dropped, so that it never blocks.
fn wait_until_ready(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut said = Vec::new();
    loop {
        match lines.next() {
            Some(Ok(line)) if line.contains("eady to accept connections") => break,
            Some(Ok(line)) => said.push(line),
            _ => panic!("redis-server did not start: {}", said.join("\n")),
        }
    }
    thread::spawn(move || lines.for_each(drop));
}
