//! The servers of a store, started as its documentation says, and the means to make them silent.

use std::{fs, io, thread, time::Duration};

use seinpaal_rig::{
    Mode, Node, Proxy, RedisCluster, RedisServer, SentinelServers, ZookeeperEnsemble, say,
};
use tempfile::TempDir;

use crate::store::Store;

/// How long a server may take to answer the rig.
const ANSWER: Duration = Duration::from_secs(20);

/// Redis keys that stay on purpose: one on each server.
const LASTING: [&str; 2] = ["seinpaal:guard", "seinpaal:node"];

/// A store with its servers, if it has any.
#[derive(Debug)]
pub struct Site {
    /// Which store.
    pub store: Store,
    /// The store's URL.
    pub url: String,
    servers: Servers,
}

#[derive(Debug)]
enum Servers {
    Directory(TempDir),
    Redis(Vec<RedisServer>),
    Sentinel(SentinelServers),
    Cluster(RedisCluster),
    Zookeeper { ensemble: ZookeeperEnsemble, proxies: Vec<Proxy> },
}

impl Site {
    /// Starts the store.
    ///
    /// # Errors
    /// If there is no place for it.
    ///
    /// # Panics
    /// If its servers do not start.
    pub fn start(store: Store) -> io::Result<Self> {
        let servers = match store {
            Store::Embedded => Servers::Directory(tempfile::tempdir()?),
            Store::Redis => Servers::Redis(vec![RedisServer::start()]),
            Store::Quorum => Servers::Redis((0..3).map(|_| RedisServer::start()).collect()),
            Store::Sentinel => Servers::Sentinel(SentinelServers::start(1)),
            // Nodes take each other for dead after the time that is Redis's own default.
            Store::Cluster => Servers::Cluster(RedisCluster::start_with(
                3,
                1,
                &["--cluster-node-timeout", "15000"],
            )),
            Store::Zookeeper => {
                let ensemble = ZookeeperEnsemble::start(3);
                let proxies = ensemble.ports().into_iter().map(Proxy::start);
                let proxies = proxies.collect::<io::Result<_>>()?;
                Servers::Zookeeper { ensemble, proxies }
            }
        };
        Ok(Self { store, url: url(&servers), servers })
    }

    /// Makes all servers silent, or lets them answer again, as when a network is away. Nothing is
    /// lost.
    pub fn silence(&self, is_silent: bool) {
        match &self.servers {
            Servers::Directory(_) => {}
            Servers::Zookeeper { proxies, .. } => {
                let mode = if is_silent { Mode::Hold } else { Mode::Pass };
                proxies.iter().for_each(|proxy| proxy.set(mode));
            }
            Servers::Redis(servers) => servers.iter().for_each(|it| still(it, is_silent)),
            Servers::Sentinel(servers) => servers.servers().for_each(|it| still(it, is_silent)),
            Servers::Cluster(cluster) => {
                cluster.nodes().iter().for_each(|it| still(it.server(), is_silent));
            }
        }
    }

    /// Asks each server for an answer.
    pub fn look(&self) {
        let ports = match &self.servers {
            Servers::Redis(servers) => servers.iter().map(RedisServer::port).collect(),
            Servers::Sentinel(servers) => (0..servers.count()).map(|at| servers.port(at)).collect(),
            Servers::Cluster(cluster) => cluster.nodes().iter().map(Node::port).collect(),
            Servers::Zookeeper { ensemble, .. } => {
                let _ = ensemble.leader(); // each is asked
                return;
            }
            Servers::Directory(_) => Vec::new(),
        };
        for port in ports {
            let _ = say(port, &["PING"], ANSWER); // how long it takes is what is asked
        }
    }

    /// Returns what the servers keep when all names are idle, after a wait for that.
    #[must_use]
    pub fn remains(&self, bound: Duration) -> Vec<String> {
        let deadline = std::time::Instant::now() + bound;
        loop {
            let kept = self.kept();
            if kept.is_empty() || std::time::Instant::now() > deadline {
                return kept;
            }
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn kept(&self) -> Vec<String> {
        match &self.servers {
            Servers::Directory(dir) => ["inbox", "presence"]
                .iter()
                .flat_map(|part| fs::read_dir(dir.path().join("store").join(part)))
                .flatten()
                .filter_map(Result::ok)
                .map(|entry| entry.path().display().to_string())
                .collect(),
            Servers::Redis(servers) => servers.iter().flat_map(|it| keys(it.port())).collect(),
            Servers::Sentinel(servers) => keys(servers.port(servers.master())),
            Servers::Cluster(cluster) => {
                let ports = cluster.masters().into_iter().map(|at| cluster.nodes()[at].port());
                ports.flat_map(keys).collect()
            }
            // The program lists all that the store keeps of a name.
            Servers::Zookeeper { .. } => Vec::new(),
        }
    }
}

fn url(servers: &Servers) -> String {
    let hosts = |ports: Vec<u16>| {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        hosts.join(",")
    };
    match servers {
        Servers::Directory(dir) => format!("file://{}", dir.path().join("store").display()),
        Servers::Redis(servers) if servers.len() == 1 => servers[0].url(""),
        Servers::Redis(servers) => {
            format!("redis+quorum://{}", hosts(servers.iter().map(RedisServer::port).collect()))
        }
        Servers::Sentinel(servers) => servers.url(""),
        Servers::Cluster(cluster) => cluster.url(),
        Servers::Zookeeper { proxies, .. } => {
            format!("zookeeper://{}/day", hosts(proxies.iter().map(Proxy::port).collect()))
        }
    }
}

fn still(server: &RedisServer, is_silent: bool) {
    if is_silent { server.pause() } else { server.resume() }
}

fn keys(port: u16) -> Vec<String> {
    match say(port, &["KEYS", "seinpaal:*"], ANSWER) {
        Ok(mut keys) => {
            keys.retain(|key| !LASTING.contains(&key.as_str()));
            keys
        }
        Err(error) => vec![format!("port {port} cannot be asked: {error}")],
    }
}
