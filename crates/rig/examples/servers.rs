//! Starts servers for the tests of another language, and prints a line `KIND URL` for each kind:
//!
//! ```console
//! $ cargo run -p seinpaal-rig --example servers -- sentinel cluster quorum zookeeper
//! ```
//!
//! The servers live until stdin ends, and so never longer than the program that started this one.

use std::{any::Any, env, io, process::ExitCode};

use seinpaal_rig::{RedisCluster, RedisServer, SentinelServers, ZookeeperEnsemble};

/// A handle that keeps servers alive until it is dropped, and their URL.
type Started = (Box<dyn Any>, String);

fn main() -> ExitCode {
    let mut kept = Vec::new();
    for kind in env::args().skip(1) {
        let Some((servers, url)) = start(&kind) else {
            eprintln!(
                "there are no servers of the kind {kind}: sentinel, cluster, quorum, zookeeper"
            );
            return ExitCode::from(64);
        };
        kept.push(servers);
        println!("{kind} {url}");
    }
    println!("started");
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    ExitCode::SUCCESS
}

fn start(kind: &str) -> Option<Started> {
    Some(match kind {
        "sentinel" => kept(SentinelServers::start(1), |servers| servers.url("")),
        "cluster" => kept(RedisCluster::start(), RedisCluster::url),
        "quorum" => kept([(); 3].map(|()| RedisServer::start()), |nodes| quorum_of(nodes)),
        "zookeeper" => kept(ZookeeperEnsemble::start(1), ZookeeperEnsemble::url),
        _ => return None,
    })
}

fn kept<S: 'static>(servers: S, url: impl Fn(&S) -> String) -> Started {
    let url = url(&servers);
    (Box::new(servers), url)
}

/// The URL of a quorum without the restart guard, with which servers that have just started would
/// admit nobody for half a minute.
fn quorum_of(nodes: &[RedisServer]) -> String {
    let hosts = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port()));
    format!("redis+quorum://{}?restart-guard=off", hosts.collect::<Vec<_>>().join(","))
}
