//! A node of a cluster.

use std::{io, path::Path, time::Duration};

use crate::{
    process::{TRIES, free_port},
    redis::{RedisServer, is_taken},
    say::say,
};

/// The silence, in milliseconds, after which the cluster takes a node for dead.
const NODE_TIMEOUT: &str = "500";
/// How long a node may take to answer. A stopped node is asked again soon.
const ANSWER: Duration = Duration::from_secs(2);

/// One node of a cluster.
#[derive(Debug)]
pub struct Node {
    server: RedisServer,
    bus: u16,
}

impl Node {
    pub(super) fn start(args: &[&str]) -> Self {
        for _ in 1..TRIES {
            match Self::try_start(args) {
                Err(error) if is_taken(&error) => {}
                started => return started.unwrap_or_else(|error| panic!("{error}")),
            }
        }
        Self::try_start(args).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_start(args: &[&str]) -> io::Result<Self> {
        let bus = free_port();
        let bus_text = bus.to_string();
        let mut all = vec!["--cluster-enabled", "yes", "--cluster-port", &bus_text];
        all.extend(["--cluster-node-timeout", NODE_TIMEOUT]);
        all.extend(["--cluster-replica-validity-factor", "0"]);
        all.extend(args);
        let server = RedisServer::try_within(&all, &[])?;
        Ok(Self { server, bus })
    }

    /// The node's port, and that of its bus.
    pub(super) fn ports(&self) -> [u16; 2] {
        [self.port(), self.bus]
    }

    /// The node's process and directory.
    pub(super) fn place(&self) -> (u32, &Path) {
        (self.server.pid(), self.server.directory())
    }

    /// The port that the node listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// The server behind the node.
    #[must_use]
    pub fn server(&self) -> &RedisServer {
        &self.server
    }

    /// Returns whether the node is up, which it is until it is killed.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.server.is_up()
    }

    /// The id that the cluster has for the node.
    #[must_use]
    pub fn id(&self) -> String {
        self.say(&["CLUSTER", "MYID"])
    }

    /// Returns whether the node is a master.
    #[must_use]
    pub fn is_master(&self) -> bool {
        self.try_say(&["ROLE"]).is_some_and(|role| role.starts_with("master"))
    }

    /// Sends a command and returns the answer: a text, or the strings and numbers of a list, one on
    /// each line.
    ///
    /// # Panics
    /// If the node refuses it or is not there.
    pub fn say(&self, words: &[&str]) -> String {
        self.answer(words).unwrap_or_else(|why| panic!("{words:?} on port {}: {why}", self.port()))
    }

    /// As [`say`](Self::say), with `None` for a refusal or no answer.
    #[must_use]
    pub fn try_say(&self, words: &[&str]) -> Option<String> {
        self.answer(words).ok()
    }

    fn answer(&self, words: &[&str]) -> io::Result<String> {
        say(self.port(), words, ANSWER).map(|parts| parts.join("\n"))
    }

    /// Returns whether this node takes the node `id` for the master that owns the hash slot.
    pub(super) fn says_that_owns(&self, id: &str, hash_slot: usize) -> bool {
        let view = self.try_say(&["CLUSTER", "NODES"]).unwrap_or_default();
        let line = view.lines().find(|line| line.starts_with(id) && line.contains("master"));
        let Some(line) = line.filter(|line| !line.contains("fail")) else { return false };
        line.split(' ').skip(8).filter(|range| !range.starts_with('[')).any(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let ends = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
            ends.is_some_and(|(first, last)| (first..=last).contains(&hash_slot))
        })
    }

    pub(super) fn knows(&self, all: usize) -> bool {
        let nodes = self.try_say(&["CLUSTER", "NODES"]).unwrap_or_default();
        nodes.lines().filter(|line| !line.contains("handshake")).count() == all
    }

    pub(super) fn is_well(&self, all: usize) -> bool {
        let info = self.try_say(&["CLUSTER", "INFO"]).unwrap_or_default();
        let replication = self.try_say(&["INFO", "replication"]).unwrap_or_default();
        let is_in_step =
            replication.contains("role:master") || replication.contains("master_link_status:up");
        info.contains("cluster_state:ok") && is_in_step && self.knows(all)
    }

    pub(super) fn replication_offset(&self) -> u64 {
        let info = self.say(&["INFO", "replication"]);
        let offset = info.lines().find_map(|line| line.strip_prefix("master_repl_offset:"));
        offset.and_then(|offset| offset.trim().parse().ok()).expect("a master says its offset")
    }

    /// How far each replica that is online has acknowledged.
    ///
    /// # Panics
    /// If it has none: it would be in step with nobody.
    pub(super) fn offsets_of_replicas(&self) -> Vec<u64> {
        let info = self.say(&["INFO", "replication"]);
        let replicas = info.lines().filter(|line| line.contains("state=online"));
        let words = replicas.flat_map(|line| line.trim().split(','));
        let offsets = words.filter_map(|word| word.strip_prefix("offset="));
        let offsets: Vec<_> = offsets.filter_map(|offset| offset.parse().ok()).collect();
        assert!(!offsets.is_empty(), "port {} has no replica that is online: {info}", self.port());
        offsets
    }

    pub(super) fn kill(&mut self) {
        self.server.kill();
    }

    pub(super) fn start_again(&mut self) {
        self.server.start_again();
    }

    pub(super) fn pause(&self) {
        self.server.pause();
    }

    pub(super) fn resume(&self) {
        self.server.resume();
    }
}
