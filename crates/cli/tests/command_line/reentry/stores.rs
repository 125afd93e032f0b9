//! Tests of a `run` inside the CMD of a `run`, on every store.

use seinpaal_rig::{RedisCluster, RedisServer, SentinelServers, ZookeeperEnsemble};

use super::{
    super::support::{World, program},
    inside,
};

/// Nests runs on the store of this URL. The servers live until `kept` is dropped, at the end.
fn nested_runs_end_with_the_status_of_their_command<Servers>(kept: Servers, url: String) {
    let mut world = World::embedded();
    world.store = url;
    let script = "$S run a -n -- sh -c 'echo $SEINPAAL_TICKET; exit 5'";
    let done = inside(&world, &["a"], &format!("echo $SEINPAAL_TICKET; {script}"));
    assert_eq!((done.code, done.err.as_str()), (5, ""), "{done:?}");
    let tickets: Vec<_> = done.out.lines().collect();
    assert!(tickets.len() == 2 && tickets[0] == tickets[1], "under one permit: {done:?}");
    // Three runs are nested without a shell in between, and the status is that of a signal.
    let words = [program(), "run", "a", "-n", "--"];
    let ends = ["sh", "-c", "kill -USR1 $$"];
    let done = world.seinpaal(&[&["run", "a", "--"], &words[..], &words, &ends].concat());
    assert_eq!((done.code, done.err.as_str()), (128 + 10, ""), "{done:?}");
    asks_for_more_than_is_held(&world);
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0, "all was given back");
    drop(kept);
}

fn asks_for_more_than_is_held(world: &World) {
    let script = "$S run b -p 2 -n -- sh -c 'exit 6'; echo $?; $S run b -p 3 true";
    let done = inside(world, &["b", "-j", "4", "-p", "2"], script);
    assert_eq!((done.code, done.out.as_str()), (78, "6\n"), "{done:?}");
    assert!(done.err.contains("holds 2") && done.err.contains("asks for 3"), "{done:?}");
    let done = inside(world, &["b"], "$S run b --no-reenter -n true");
    assert_eq!(done.code, 75, "a run that does not re-enter waits: {done:?}");
}

#[test]
fn nested_runs_end_on_the_embedded_store() {
    let world = World::embedded();
    let url = world.store.clone();
    nested_runs_end_with_the_status_of_their_command(world, url);
}

#[test]
fn nested_runs_end_on_redis() {
    let server = RedisServer::start();
    let url = server.url("");
    nested_runs_end_with_the_status_of_their_command(server, url);
}

#[test]
fn nested_runs_end_behind_sentinels() {
    let servers = SentinelServers::shared();
    let url = servers.url("");
    nested_runs_end_with_the_status_of_their_command(servers, url);
}

#[test]
fn nested_runs_end_on_a_cluster() {
    let cluster = RedisCluster::shared();
    let url = cluster.url();
    nested_runs_end_with_the_status_of_their_command(cluster, url);
}

#[test]
fn nested_runs_end_on_a_quorum() {
    let servers = [(); 3].map(|()| RedisServer::start());
    let hosts = servers.each_ref().map(|server| format!("127.0.0.1:{}", server.port())).join(",");
    let url = format!("redis+quorum://{hosts}?restart-guard=off");
    nested_runs_end_with_the_status_of_their_command(servers, url);
}

#[test]
fn nested_runs_end_on_zookeeper() {
    let url = format!("{}/cli/nested", ZookeeperEnsemble::shared().url());
    nested_runs_end_with_the_status_of_their_command((), url);
}
