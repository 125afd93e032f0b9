//! A master, its replicas and the sentinels that watch them, with ways to break and mend them.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    time::Duration,
};

use tempfile::TempDir;

use crate::{process::until, redis::RedisServer, say::say};

/// The name under which the sentinels know the master.
pub const MASTER: &str = "seinpaal-test";

/// How many sentinels there are. Two of them must agree.
const SENTINELS: usize = 3;
/// How long a server may take to answer. A stopped server is asked again soon.
const ANSWER: Duration = Duration::from_secs(1);
/// The silence, in milliseconds, after which a sentinel takes a server for down. A sentinel
/// connects to a new master at most once a second. With a shorter time it would take the new master
/// for down, and replace it, before the first connection.
const DOWN_AFTER: u32 = 1500;

/// A master with replicas behind three sentinels. Dropping this kills them by their process ids.
#[derive(Debug)]
pub struct SentinelServers {
    nodes: Vec<RedisServer>,
    sentinels: Vec<SentinelServer>,
}

/// A sentinel with its configuration file, which it rewrites.
#[derive(Debug)]
struct SentinelServer {
    server: RedisServer,
    _configuration: TempDir,
}

/// Servers are dear to start, so tests that break nothing share them. The servers end with the last
/// such test.
static SHARED: LazyLock<Mutex<Weak<SentinelServers>>> = LazyLock::new(Mutex::default);

impl SentinelServers {
    /// A master with two replicas that the tests of this process share. A test must leave the
    /// servers as it found them.
    ///
    /// # Panics
    /// If a program is missing or does not start.
    #[must_use]
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let servers = shared.upgrade().unwrap_or_else(|| Arc::new(Self::start(2)));
        *shared = Arc::downgrade(&servers);
        servers
    }

    /// Starts a master with this many replicas, and three sentinels that have found the servers and
    /// each other.
    ///
    /// # Panics
    /// If a program is missing or does not start.
    #[must_use]
    pub fn start(replicas: usize) -> Self {
        let master = RedisServer::start();
        let port = master.port();
        let replica = || RedisServer::with(&replica_of(&port.to_string()));
        let nodes = std::iter::once(master).chain((0..replicas).map(|_| replica())).collect();
        let mut servers = Self { nodes, sentinels: Vec::new() };
        // Sentinels ask the master for its replicas when they start, and then only every ten
        // seconds.
        until("replicas follow", || servers.connected_replicas(0) == Some(replicas));
        servers.sentinels = (0..SENTINELS).map(|_| SentinelServer::start(port)).collect();
        servers.until_whole();
        servers
    }

    /// The URL of the sentinels, with `options` like `"?replicated=1"`.
    #[must_use]
    pub fn url(&self, options: &str) -> String {
        let sentinel = |sentinel: &SentinelServer| format!("127.0.0.1:{}", sentinel.server.port());
        let hosts = self.sentinels.iter().map(sentinel).collect::<Vec<_>>().join(",");
        format!("redis+sentinel://{hosts}/{MASTER}{options}")
    }

    /// How many servers there are, including the master.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The ports of the sentinels.
    #[must_use]
    pub fn sentinel_ports(&self) -> Vec<u16> {
        self.sentinels.iter().map(|sentinel| sentinel.server.port()).collect()
    }

    /// Returns which server is the master, as most sentinels see it.
    ///
    /// # Panics
    /// If the sentinels do not agree within a minute.
    #[must_use]
    pub fn master(&self) -> usize {
        let mut found = None;
        until("most sentinels know one master", || {
            let seen: Vec<_> =
                self.sentinels.iter().filter_map(SentinelServer::master_port).collect();
            let is_common = |port: &&u16| seen.iter().filter(|p| p == port).count() > SENTINELS / 2;
            let port = seen.iter().find(is_common).copied();
            found = port.and_then(|port| self.nodes.iter().position(|node| node.port() == port));
            found.is_some()
        });
        found.expect("seen just now")
    }

    /// The servers other than the master.
    #[must_use]
    pub fn replicas(&self) -> Vec<usize> {
        let master = self.master();
        (0..self.nodes.len()).filter(|node| *node != master).collect()
    }

    /// The port that a server listens on.
    #[must_use]
    pub fn port(&self, node: usize) -> u16 {
        self.nodes[node].port()
    }

    /// All servers, followed by the sentinels.
    pub fn servers(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter().chain(self.sentinels.iter().map(|sentinel| &sentinel.server))
    }

    /// Kills a server (`SIGKILL`). Its memory is gone.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
    }

    /// Stops a server without ending it: the kernel accepts connections, and nothing answers.
    pub fn pause(&self, node: usize) {
        self.nodes[node].pause();
    }

    /// Lets a stopped server go on.
    pub fn resume(&self, node: usize) {
        self.nodes[node].resume();
    }

    /// Lets every stopped server go on.
    pub fn resume_all(&self) {
        self.nodes.iter().filter(|node| node.is_up()).for_each(RedisServer::resume);
    }

    /// Kills a sentinel (`SIGKILL`) for good.
    pub fn kill_sentinel(&mut self, sentinel: usize) {
        self.sentinels[sentinel].server.kill();
    }

    /// Stops a sentinel without ending it.
    pub fn pause_sentinel(&self, sentinel: usize) {
        self.sentinels[sentinel].server.pause();
    }

    /// Returns whether a server answers.
    #[must_use]
    pub fn is_up(&self, node: usize) -> bool {
        self.ask(node, "PING").is_ok()
    }

    /// Sends a server one command, in words, and returns the parts of the answer.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub fn ask(&self, node: usize, question: &str) -> io::Result<Vec<String>> {
        ask(self.nodes[node].port(), question)
    }

    /// Starts a killed server as a replica of the present master.
    ///
    /// # Panics
    /// If the server does not start.
    pub fn start_again(&mut self, node: usize) {
        let master = self.nodes[self.master()].port();
        assert_ne!(master, self.nodes[node].port(), "an empty master would empty its replicas");
        self.nodes[node].start_again_with(&replica_of(&master.to_string()));
    }

    /// Keeps the master's further writes from every replica, as a cut network would. `SIGSTOP`
    /// alone cannot do that, because the kernel keeps sent bytes for the stopped replica. The
    /// replicas stay paused until they are resumed.
    ///
    /// # Panics
    /// If the master cannot be reached.
    pub fn cut_replication(&self) {
        let (master, replicas) = (self.master(), self.replicas());
        replicas.iter().for_each(|replica| self.pause(*replica));
        self.ask(master, "CLIENT KILL TYPE replica").expect("the master");
        until("its replicas are gone", || self.connected_replicas(master) == Some(0));
    }

    /// Waits until most sentinels know a master other than `old`.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_promoted(&self, old: usize) {
        until("another server is promoted", || self.master() != old);
    }

    /// Waits until the master has all replicas, and all sentinels know all servers and each other
    /// and report no fault.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_whole(&self) {
        let replicas = self.nodes.len() - 1;
        until("all servers are there", || {
            let are_ready = self.sentinels.iter().all(|sentinel| sentinel.sees_all(replicas));
            are_ready && self.connected_replicas(self.master()) == Some(replicas)
        });
    }

    /// Waits until the master has all replicas.
    ///
    /// # Panics
    /// If that takes more than a minute.
    pub fn until_all_follow(&self) {
        let (master, replicas) = (self.master(), self.nodes.len() - 1);
        until("all replicas follow", || self.connected_replicas(master) == Some(replicas));
    }

    /// How many replicas follow a server without lagging behind.
    #[must_use]
    pub fn connected_replicas(&self, node: usize) -> Option<usize> {
        let info = self.ask(node, "INFO replication").ok()?.pop()?;
        let is_online = |line: &&str| line.starts_with("slave") && line.contains(",state=online,");
        Some(info.lines().filter(is_online).count())
    }
}

impl SentinelServer {
    fn start(master: u16) -> Self {
        let quorum = SENTINELS / 2 + 1;
        let text = format!(
            "sentinel monitor {MASTER} 127.0.0.1 {master} {quorum}\n\
             sentinel down-after-milliseconds {MASTER} {DOWN_AFTER}\n\
             sentinel failover-timeout {MASTER} 3000\n\
             sentinel parallel-syncs {MASTER} 8\n"
        );
        let configuration = tempfile::tempdir().expect("a temporary directory");
        let file = configuration.path().join("sentinel.conf");
        std::fs::write(&file, text).expect("a configuration");
        let server = RedisServer::with(&[&file.display().to_string(), "--sentinel"]);
        Self { server, _configuration: configuration }
    }

    /// The port at which this sentinel sees the master.
    fn master_port(&self) -> Option<u16> {
        let address =
            ask(self.server.port(), &format!("SENTINEL GET-MASTER-ADDR-BY-NAME {MASTER}")).ok()?;
        address.get(1)?.parse().ok()
    }

    fn sees_all(&self, replicas: usize) -> bool {
        let about =
            ask(self.server.port(), &format!("SENTINEL MASTER {MASTER}")).unwrap_or_default();
        let has = |key: &str, value: &str| about.chunks(2).any(|pair| pair == [key, value]);
        let slaves =
            ask(self.server.port(), &format!("SENTINEL REPLICAS {MASTER}")).unwrap_or_default();
        let well = slaves.windows(2).filter(|pair| *pair == ["flags", "slave"]).count();
        has("flags", "master")
            && has("num-other-sentinels", &(SENTINELS - 1).to_string())
            && well == replicas
    }
}

fn replica_of(master: &str) -> [&str; 3] {
    ["--replicaof", "127.0.0.1", master]
}

/// Sends a server one command, in words.
fn ask(port: u16, question: &str) -> io::Result<Vec<String>> {
    let words: Vec<_> = question.split(' ').collect();
    say(port, &words, ANSWER)
}

#[cfg(test)]
mod tests;
