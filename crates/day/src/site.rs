//! The servers of a store, started as its documentation says, and the means to make them silent.

use std::{fs, io, thread, time::Duration};

use seinpaal_rig::{
    Mode, Node, Proxy, RedisCluster, RedisServer, SentinelServers, ZookeeperEnsemble, say,
};
use tempfile::TempDir;

use crate::store::StoreSetting;

/// How long a server may take to answer the rig.
const ANSWER: Duration = Duration::from_secs(20);

/// Redis keys that stay on purpose: one on each server.
const LASTING: [&str; 2] = ["seinpaal:guard", "seinpaal:node"];

/// A store with its servers, if it has any.
#[derive(Debug)]
pub struct DaySite {
    /// Which store.
    pub store: StoreSetting,
    /// The store's URL.
    pub url: String,
    servers: SiteServers,
}

#[derive(Debug)]
enum SiteServers {
    Directory(TempDir),
    Redis(Vec<RedisServer>),
    Sentinel(SentinelServers),
    Cluster(RedisCluster),
    Zookeeper { ensemble: ZookeeperEnsemble, proxies: Vec<Proxy> },
}

impl DaySite {
    /// Starts the store.
    ///
    /// # Errors
    /// If there is no place for it.
    ///
    /// # Panics
    /// If its servers do not start.
    pub fn start(store: StoreSetting) -> io::Result<Self> {
        let servers = match store {
            StoreSetting::Embedded => SiteServers::Directory(tempfile::tempdir()?),
            StoreSetting::Redis => SiteServers::Redis(vec![RedisServer::start()]),
            StoreSetting::Quorum => {
                SiteServers::Redis((0..3).map(|_| RedisServer::start()).collect())
            }
            StoreSetting::Sentinel => SiteServers::Sentinel(SentinelServers::start(1)),
            // Nodes take each other for dead after the time that is Redis's own default.
            StoreSetting::Cluster => SiteServers::Cluster(RedisCluster::start_with(
                3,
                1,
                &["--cluster-node-timeout", "15000"],
            )),
            StoreSetting::Zookeeper => {
                let ensemble = ZookeeperEnsemble::start(3);
                let proxies = ensemble.ports().into_iter().map(Proxy::start);
                let proxies = proxies.collect::<io::Result<_>>()?;
                SiteServers::Zookeeper { ensemble, proxies }
            }
        };
        Ok(Self { store, url: url(&servers), servers })
    }

    /// Makes all servers silent, or lets them answer again, as when a network is down. Nothing is
    /// lost.
    pub fn silence(&self, is_silent: bool) {
        match &self.servers {
            SiteServers::Directory(_) => {}
            SiteServers::Zookeeper { proxies, .. } => {
                let mode = if is_silent { Mode::Hold } else { Mode::Pass };
                proxies.iter().for_each(|proxy| proxy.set(mode));
            }
            SiteServers::Redis(servers) => servers.iter().for_each(|it| still(it, is_silent)),
            SiteServers::Sentinel(servers) => servers.servers().for_each(|it| still(it, is_silent)),
            SiteServers::Cluster(cluster) => {
                cluster.nodes().iter().for_each(|it| still(it.server(), is_silent));
            }
        }
    }

    /// Asks each server for an answer.
    pub fn look(&self) {
        let ports = match &self.servers {
            SiteServers::Redis(servers) => servers.iter().map(RedisServer::port).collect(),
            SiteServers::Sentinel(servers) => {
                (0..servers.count()).map(|at| servers.port(at)).collect()
            }
            SiteServers::Cluster(cluster) => cluster.nodes().iter().map(Node::port).collect(),
            SiteServers::Zookeeper { ensemble, .. } => {
                let _ = ensemble.leader(); // each is asked
                return;
            }
            SiteServers::Directory(_) => Vec::new(),
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
            SiteServers::Directory(dir) => ["inbox", "presence"]
                .iter()
                .flat_map(|part| fs::read_dir(dir.path().join("store").join(part)))
                .flatten()
                .filter_map(Result::ok)
                .map(|entry| entry.path().display().to_string())
                .collect(),
            SiteServers::Redis(servers) => servers.iter().flat_map(|it| keys(it.port())).collect(),
            SiteServers::Sentinel(servers) => keys(servers.port(servers.master())),
            SiteServers::Cluster(cluster) => {
                let ports = cluster.masters().into_iter().map(|at| cluster.nodes()[at].port());
                ports.flat_map(keys).collect()
            }
            // The program lists all that the store keeps of a name.
            SiteServers::Zookeeper { .. } => Vec::new(),
        }
    }
}

fn url(servers: &SiteServers) -> String {
    let hosts = |ports: Vec<u16>| {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        hosts.join(",")
    };
    match servers {
        SiteServers::Directory(dir) => format!("file://{}", dir.path().join("store").display()),
        SiteServers::Redis(servers) if servers.len() == 1 => servers[0].url(""),
        SiteServers::Redis(servers) => {
            format!("redis+quorum://{}", hosts(servers.iter().map(RedisServer::port).collect()))
        }
        SiteServers::Sentinel(servers) => servers.url(""),
        SiteServers::Cluster(cluster) => cluster.url(),
        SiteServers::Zookeeper { proxies, .. } => {
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
