//! Redis clusters of a test's own: real nodes in a temporary directory, on free ports, gone with their handle.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{free_port, program};

/// How long a cluster may take to do what it was told.
const BOUND: Duration = Duration::from_secs(60);
/// After how many milliseconds of silence a node is taken for dead.
const NODE_TIMEOUT: &str = "500";
/// The same where nothing is killed: on a machine that is busy a node that lives is silent for longer than that, and a
/// replica that takes its place lacks what it had just written.
const PATIENT: &str = "15000";
const SLOTS: usize = 16384;

/// A cluster. Its nodes are killed, by their process ids, when it is dropped.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Node>,
    _dir: TempDir,
}

/// One node of it.
#[derive(Debug)]
pub struct Node {
    port: u16,
    bus: u16,
    dir: std::path::PathBuf,
    args: Vec<String>,
    child: Option<Child>,
}

impl RedisCluster {
    /// Starts three masters with a replica each.
    ///
    /// # Panics
    /// If `redis-server` is missing or the nodes do not come to agree.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(3, 1, &[])
    }

    /// Starts so many masters with so many replicas each, with these arguments.
    ///
    /// # Panics
    /// If `redis-server` is missing or the nodes do not come to agree.
    #[must_use]
    pub fn start_with(masters: usize, replicas: usize, args: &[&str]) -> Self {
        assert!(
            program::can_be_a_cluster(),
            "{:?} is too old for a cluster: 7.0 is the oldest",
            program::version()
        );
        let dir = tempfile::tempdir().expect("a temporary directory");
        let nodes = (0..masters * (1 + replicas)).map(|i| Node::start(dir.path(), i, args));
        let cluster = Self { nodes: nodes.collect(), _dir: dir };
        cluster.share_out(masters);
        cluster.meet();
        for i in masters..cluster.nodes.len() {
            cluster.follow(i, i % masters);
        }
        cluster.await_health();
        cluster
    }

    /// One for the whole test program, for tests that only use it. It ends with the program.
    ///
    /// # Panics
    /// As [`RedisCluster::start`].
    #[must_use]
    pub fn shared() -> Arc<Self> {
        static SHARED: OnceLock<Arc<RedisCluster>> = OnceLock::new();
        let start = || {
            let cluster = Self::start_with(3, 1, &["--cluster-node-timeout", PATIENT]);
            cluster.end_with_this_program();
            Arc::new(cluster)
        };
        SHARED.get_or_init(start).clone()
    }

    /// All nodes, masters first at the start.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// As clients write it: the first three nodes.
    #[must_use]
    pub fn url(&self) -> String {
        let nodes = self.nodes.iter().take(3).map(|node| format!("127.0.0.1:{}", node.port));
        format!("redis+cluster://{}", nodes.collect::<Vec<_>>().join(","))
    }

    /// Adds a master without slots, and waits until all know it.
    ///
    /// # Panics
    /// If they do not come to agree.
    pub fn add_master(&mut self) -> usize {
        let added = self.nodes.len();
        let node = Node::start(self._dir.path(), added, &[]);
        self.nodes.push(node);
        self.meet();
        self.await_health();
        added
    }

    /// The node that owns a key's slot, as node `asked` says.
    ///
    /// # Panics
    /// If it does not know.
    #[must_use]
    pub fn owner_of(&self, key: &str) -> usize {
        let slot = self.slot_of(key);
        let owner = (0..self.nodes.len()).find(|i| self.owns(*i, slot));
        owner.expect("a master that owns the slot")
    }

    /// Waits until a node that is up owns a key's slot.
    ///
    /// # Panics
    /// If none does.
    pub fn await_owner(&self, key: &str) {
        let slot = self.slot_of(key);
        until("nobody takes over", || (0..self.nodes.len()).any(|i| self.owns(i, slot)));
    }

    /// The masters that are up.
    #[must_use]
    pub fn masters(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|i| self.nodes[*i].is_master()).collect()
    }

    /// The slot of a key.
    ///
    /// # Panics
    /// If no node answers.
    #[must_use]
    pub fn slot_of(&self, key: &str) -> usize {
        let node = self.nodes.iter().find(|node| node.is_up()).expect("a node that is up");
        node.say(&["CLUSTER", "KEYSLOT", key]).parse().expect("a slot")
    }

    fn owns(&self, node: usize, slot: usize) -> bool {
        let node = &self.nodes[node];
        let id = node.try_say(&["CLUSTER", "MYID"]);
        id.is_some_and(|id| node.says_that_owns(&id, slot))
    }

    /// Starts to move a slot: `from` sends those who ask for a key that it has not got to `to`.
    pub fn begin_move(&self, slot: usize, from: usize, to: usize) {
        let slot = slot.to_string();
        let (from_id, to_id) = (self.nodes[from].id(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
    }

    /// Moves these keys, in one step.
    pub fn move_keys(&self, from: usize, to: usize, keys: &[&str]) {
        let port = self.nodes[to].port.to_string();
        let command = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        self.nodes[from].say(&[&command[..], keys].concat());
    }

    /// Ends a move: `to` owns the slot, and all nodes know it.
    ///
    /// # Panics
    /// If they do not come to agree.
    pub fn end_move(&self, slot: usize, from: usize, to: usize) {
        let (text, id) = (slot.to_string(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        // Who learns of two moves in the wrong order keeps the older one for good.
        until("the nodes do not agree about a slot", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            up.all(|node| node.says_that_owns(&id, slot))
        });
    }

    /// Moves a slot with all its keys, one by one, as tools do.
    ///
    /// # Panics
    /// If a node will not.
    pub fn move_slot(&self, slot: usize, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        loop {
            let keys = self.nodes[from].say(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "10"]);
            let keys: Vec<&str> = keys.lines().filter(|key| !key.is_empty()).collect();
            if keys.is_empty() {
                break;
            }
            for key in keys {
                self.move_keys(from, to, &[key]);
            }
        }
        self.end_move(slot, from, to);
    }

    /// Kills a node (`kill -9`).
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
    }

    /// Starts a killed node again at its place, and waits until it follows a master or is one.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start_again(&mut self, node: usize) {
        self.nodes[node].launch();
    }

    /// Stops a node without ending it (`SIGSTOP`).
    pub fn pause(&self, node: usize) {
        self.nodes[node].signal("-STOP");
    }

    /// Lets it go on.
    pub fn resume(&self, node: usize) {
        self.nodes[node].signal("-CONT");
    }

    /// Waits until every node that is up says that all is well and every replica is in step.
    ///
    /// # Panics
    /// If that does not come about.
    pub fn await_health(&self) {
        until("the cluster is not well", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            up.all(|node| node.is_well(self.nodes.len()))
        });
    }

    /// Waits until every replica of a master has what the master has been told so far. `WAIT` would not do: it waits
    /// for what its own connection wrote.
    ///
    /// # Panics
    /// If that does not come about.
    pub fn await_replicas_of(&self, node: usize) {
        let (master, written) = (&self.nodes[node], self.nodes[node].replication_offset());
        until("a replica is behind its master", || {
            master.offsets_of_replicas().iter().all(|offset| *offset >= written)
        });
    }

    fn share_out(&self, masters: usize) {
        for (i, node) in self.nodes.iter().take(masters).enumerate() {
            let (first, last) = (SLOTS * i / masters, SLOTS * (i + 1) / masters - 1);
            node.say(&["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]);
            node.say(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
        }
    }

    fn meet(&self) {
        let first = &self.nodes[0];
        for node in &self.nodes[1..] {
            let (port, bus) = (node.port.to_string(), node.bus.to_string());
            first.say(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        }
        let all = self.nodes.len();
        until("the nodes do not meet", || self.nodes.iter().all(|node| node.knows(all)));
    }

    fn follow(&self, replica: usize, master: usize) {
        self.nodes[replica].say(&["CLUSTER", "REPLICATE", &self.nodes[master].id()]);
    }

    /// Statics are not dropped; so somebody waits for the end of this program, and cleans up.
    fn end_with_this_program(&self) {
        let clean_up = "read -r _; kill -9 \"$@\"; rm -rf \"$DIR\"";
        let pids = self.nodes.iter().map(|node| node.pid().to_string());
        let child = Command::new("sh")
            .args(["-c", clean_up, "sh"])
            .args(pids)
            .env("DIR", self._dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        // Its standard input ends with us, when nobody is left who has the other end.
        std::mem::forget(child.expect("a shell"));
    }
}

impl Node {
    fn start(dir: &Path, number: usize, args: &[&str]) -> Self {
        let dir = dir.join(number.to_string());
        std::fs::create_dir(&dir).expect("a directory");
        let (port, bus) = (free_port(), free_port());
        let args = args.iter().map(ToString::to_string).collect();
        let mut node = Self { port, bus, dir, args, child: None };
        node.launch();
        node
    }

    fn launch(&mut self) {
        let log = File::options().create(true).append(true).open(self.dir.join("log"));
        let log = log.expect("a log");
        let child = program::command()
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT])
            .args(["--cluster-port", &self.bus.to_string(), "--save", "", "--appendonly", "no"])
            .args(["--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0"])
            .args(&self.args)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .expect("the server cannot be started: run ./test, which says how to get it");
        self.child = Some(child);
        until("a node does not answer", || {
            self.has_not_ended() && self.try_say(&["PING"]).is_some()
        });
    }

    /// One that does not take its arguments ends at once, and would be waited for in vain.
    fn has_not_ended(&mut self) -> bool {
        let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        let log = || std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        ended.is_none_or(|status| panic!("a node does not start ({status}); it said:\n{}", log()))
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    ///
    /// # Panics
    /// If it was killed.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it is up").id()
    }

    /// Whether it was not killed.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// The name that the cluster has for it.
    #[must_use]
    pub fn id(&self) -> String {
        self.say(&["CLUSTER", "MYID"])
    }

    /// Whether it is a master.
    #[must_use]
    pub fn is_master(&self) -> bool {
        self.try_say(&["ROLE"]).is_some_and(|role| role.starts_with("master"))
    }

    /// Says something and returns the answer: text, or the strings and numbers of a list, a line each.
    ///
    /// # Panics
    /// If the node refuses it or is not there.
    pub fn say(&self, words: &[&str]) -> String {
        self.answer(words).unwrap_or_else(|why| panic!("{words:?} on port {}: {why}", self.port))
    }

    /// The same, with `None` for a refusal or no answer.
    #[must_use]
    pub fn try_say(&self, words: &[&str]) -> Option<String> {
        self.answer(words).ok()
    }

    fn answer(&self, words: &[&str]) -> Result<String, String> {
        let failed = |error: io::Error| error.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(failed)?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).map_err(failed)?;
        let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
        let words: Vec<String> = words.collect();
        write!(stream, "*{}\r\n{}", words.len(), words.concat()).map_err(failed)?;
        read(&mut BufReader::new(stream))
    }

    /// Whether it takes that node for the master that owns the slot.
    fn says_that_owns(&self, id: &str, slot: usize) -> bool {
        let view = self.try_say(&["CLUSTER", "NODES"]).unwrap_or_default();
        let line = view.lines().find(|line| line.starts_with(id) && line.contains("master"));
        let Some(line) = line.filter(|line| !line.contains("fail")) else { return false };
        line.split(' ').skip(8).filter(|range| !range.starts_with('[')).any(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let ends = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
            ends.is_some_and(|(first, last)| (first..=last).contains(&slot))
        })
    }

    fn knows(&self, all: usize) -> bool {
        let nodes = self.try_say(&["CLUSTER", "NODES"]).unwrap_or_default();
        nodes.lines().filter(|line| !line.contains("handshake")).count() == all
    }

    fn is_well(&self, all: usize) -> bool {
        let info = self.try_say(&["CLUSTER", "INFO"]).unwrap_or_default();
        let replication = self.try_say(&["INFO", "replication"]).unwrap_or_default();
        let is_in_step =
            replication.contains("role:master") || replication.contains("master_link_status:up");
        info.contains("cluster_state:ok") && is_in_step && self.knows(all)
    }

    fn replication_offset(&self) -> u64 {
        let info = self.say(&["INFO", "replication"]);
        let offset = info.lines().find_map(|line| line.strip_prefix("master_repl_offset:"));
        offset.and_then(|offset| offset.trim().parse().ok()).expect("a master says its offset")
    }

    /// How far each replica that is online has acknowledged.
    ///
    /// # Panics
    /// If it has none: it would be in step with nobody.
    fn offsets_of_replicas(&self) -> Vec<u64> {
        let info = self.say(&["INFO", "replication"]);
        let replicas = info.lines().filter(|line| line.contains("state=online"));
        let words = replicas.flat_map(|line| line.trim().split(','));
        let offsets = words.filter_map(|word| word.strip_prefix("offset="));
        let offsets: Vec<_> = offsets.filter_map(|offset| offset.parse().ok()).collect();
        assert!(!offsets.is_empty(), "port {} has no replica that is online: {info}", self.port);
        offsets
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.pid().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read(stream: &mut impl BufRead) -> Result<String, String> {
    let mut line = String::new();
    stream.read_line(&mut line).map_err(|error| error.to_string())?;
    let (kind, rest) = line.trim_end().split_at_checked(1).ok_or("the end of the connection")?;
    let length = || rest.parse::<i64>().map_err(|_| line.clone());
    match kind {
        "+" | ":" => Ok(rest.to_owned()),
        "$" => read_text(stream, usize::try_from(length()?).unwrap_or(0)),
        "*" => {
            let parts = (0..length()?).map(|_| read(stream));
            parts.collect::<Result<Vec<_>, _>>().map(|parts| parts.join("\n"))
        }
        _ => Err(line),
    }
}

fn read_text(stream: &mut impl BufRead, length: usize) -> Result<String, String> {
    let mut text = vec![0; length + 2];
    stream.read_exact(&mut text).map_err(|error| error.to_string())?;
    text.truncate(length);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Waits until something holds.
///
/// # Panics
/// With `what`, if that takes more than a minute.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < BOUND, "{what}");
        // A real cluster of processes can only be asked again; what is decided is whether, not when.
        thread::park_timeout(Duration::from_millis(20));
    }
}
