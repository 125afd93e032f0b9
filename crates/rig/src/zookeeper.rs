//! ZooKeeper ensembles.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::process::{BOUND, TRIES, end, end_with_this_program, free_port, free_ports, spawn};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The directory of the program in Debian.
const JARS: &str = "/usr/share/java";
/// Options for a virtual machine that starts fast and stays small.
const JAVA: [&str; 8] = [
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.net.preferIPv4Stack=true",
    "-Dzookeeper.fastleader.minNotificationInterval=100",
    "-Dzookeeper.fastleader.maxNotificationInterval=800",
    "-Dzookeeper.4lw.commands.whitelist=*",
];

/// A running ensemble. Dropping this kills its servers by their process ids, and shows their logs
/// if the test failed.
#[derive(Debug)]
pub struct ZookeeperEnsemble {
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    port: u16,
    dir: TempDir,
    running: Option<RunningServer>,
}

/// A server, and a process that kills it if this program ends without doing so.
#[derive(Debug)]
struct RunningServer {
    child: Child,
    reaper: Child,
}

/// The one server that the tests of a process share.
static SHARED: OnceLock<ZookeeperEnsemble> = OnceLock::new();

impl ZookeeperEnsemble {
    /// A server that all tests of this process share. Each test has a chroot of its own in it.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn shared() -> &'static Self {
        SHARED.get_or_init(|| Self::start(1))
    }

    /// Starts this many servers that choose a leader among them. One server stands alone.
    ///
    /// # Panics
    /// If Java or ZooKeeper is missing, or the servers do not start.
    #[must_use]
    pub fn start(count: usize) -> Self {
        for _ in 0..TRIES {
            let mut ensemble = Self::configure(count);
            (0..count).for_each(|server| ensemble.revive(server));
            if ensemble.is_ready_in_time() {
                return ensemble;
            }
            ensemble.show_logs();
        }
        panic!("ZooKeeper does not start")
    }

    /// The URL of the ensemble, without a chroot.
    #[must_use]
    pub fn url(&self) -> String {
        let servers: Vec<_> =
            self.servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("zookeeper://{}", servers.join(","))
    }

    /// The port of each server.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(|server| server.port).collect()
    }

    /// Returns which server leads, or stands alone, once one does.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        self.servers.iter().position(|server| {
            let said = ask(server.port, "srvr");
            said.contains("Mode: leader") || said.contains("Mode: standalone")
        })
    }

    /// Kills a server at once.
    pub fn kill(&mut self, server: usize) {
        if let Some(mut running) = self.servers[server].running.take() {
            // The reaper is killed first, because it would remove the directory when its stdin
            // ends.
            end(&mut running.reaper);
            end(&mut running.child);
        }
    }

    /// Starts a killed server again with its data.
    ///
    /// # Panics
    /// If Java or ZooKeeper is missing.
    pub fn revive(&mut self, server: usize) {
        let server = &mut self.servers[server];
        let child = launch(server.dir.path());
        // The handle of a shared ensemble is never dropped, so the reaper kills its servers.
        let reaper = end_with_this_program([(child.id(), server.dir.path())].into_iter());
        server.running = Some(RunningServer { child, reaper });
    }

    /// Waits until every server takes part. Returns `false` if that takes more than a minute.
    #[must_use]
    pub fn is_ready_in_time(&self) -> bool {
        let deadline = Instant::now() + BOUND;
        while Instant::now() < deadline {
            let takes_part = |server: &Server| ask(server.port, "srvr").contains("Mode: ");
            if self.servers.iter().all(takes_part) {
                return true;
            }
            thread::sleep(LOOK_EVERY);
        }
        false
    }

    /// The ids of the sessions, as the leader prints them. Empty while there is no leader.
    #[must_use]
    pub fn sessions(&self) -> String {
        self.leader().map_or_else(String::new, |leader| ask(self.servers[leader].port, "dump"))
    }

    fn configure(count: usize) -> Self {
        let servers: Vec<_> = (0..count)
            .map(|_| Server {
                port: free_port(),
                dir: tempfile::tempdir().expect("a temporary directory"),
                running: None,
            })
            .collect();
        let peers = free_ports(2 * count);
        for (at, server) in servers.iter().enumerate() {
            let data = server.dir.path().display();
            let mut config = format!(
                "dataDir={data}\nclientPort={}\nclientPortAddress=127.0.0.1\ntickTime=200\n\
                 initLimit=20\nsyncLimit=10\nmaxClientCnxns=0\nminSessionTimeout=400\n\
                 maxSessionTimeout=600000\nadmin.enableServer=false\nsnapCount=100000\n",
                server.port
            );
            if count > 1 {
                for (peer, ports) in peers.chunks(2).enumerate() {
                    config += &format!("server.{}=127.0.0.1:{}:{}\n", peer + 1, ports[0], ports[1]);
                }
                config += "standaloneEnabled=false\n";
            }
            let write = |file: &str, text: &str| fs::write(server.dir.path().join(file), text);
            write("zoo.cfg", &config).expect("a file");
            write("myid", &format!("{}\n", at + 1)).expect("a file");
        }
        Self { servers }
    }

    fn show_logs(&self) {
        for server in &self.servers {
            let log = fs::read_to_string(server.dir.path().join("log")).unwrap_or_default();
            let tail: Vec<_> = log.lines().rev().take(60).collect();
            eprintln!("ZooKeeper on port {} said at last:", server.port);
            tail.iter().rev().for_each(|line| eprintln!("  {line}"));
        }
    }
}

impl Drop for ZookeeperEnsemble {
    fn drop(&mut self) {
        (0..self.servers.len()).for_each(|server| self.kill(server));
        if thread::panicking() {
            self.show_logs();
        }
    }
}

fn launch(dir: &Path) -> Child {
    let log =
        fs::OpenOptions::new().create(true).append(true).open(dir.join("log")).expect("a file");
    let mut java = Command::new("java");
    java.args(JAVA)
        .arg("-Dzookeeper.forceSync=no")
        .arg("-cp")
        .arg(class_path())
        .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
        .arg(dir.join("zoo.cfg"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a file"))
        .stderr(log);
    spawn(&mut java).unwrap_or_else(|error| panic!("{error}"))
}

fn class_path() -> String {
    let jar = PathBuf::from(JARS).join("zookeeper.jar");
    assert!(jar.exists(), "{} is missing: run ./test, which installs it", jar.display());
    // The jar names the other jars it needs.
    jar.display().to_string()
}

/// Asks one of the four-letter questions. The answer of a missing server is empty.
fn ask(port: u16, question: &str) -> String {
    let mut said = String::new();
    let mut talk = || -> std::io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(question.as_bytes())?;
        stream.read_to_string(&mut said).map(drop)
    };
    // The bytes that the server sent before it hung up are the answer, even after an error.
    let _ = talk();
    said
}
