//! Tests of the messages about a wrong store URL, and of `run` on a quorum.

use std::net::TcpListener;

use super::support::{Held, World};

/// Returns ports that were free a moment ago.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Starts servers with this password, and returns them with the URL that names their ports.
fn quorum(password: &str) -> (Vec<World>, String) {
    let ports = free_ports::<3>();
    let start =
        |port: u16| World::with_redis(&["--port", &port.to_string(), "--requirepass", password]);
    let hosts = ports.map(|port| format!("127.0.0.1:{port}")).join(",");
    (ports.map(start).into(), hosts)
}

#[test]
fn where_nothing_listens_is_69_in_one_line_for_every_store() {
    let world = World::embedded();
    for place in [
        "redis://:s3cret@127.0.0.1:1",
        "unix:///nowhere/redis.sock?pass=s3cret",
        "redis+sentinel://:s3cret@127.0.0.1:1,127.0.0.1:2/mymaster",
        "redis+cluster://:s3cret@127.0.0.1:1,127.0.0.1:2",
        "redis+quorum://:s3cret@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
        "zookeeper://u:s3cret@127.0.0.1:1,127.0.0.1:2/x",
    ] {
        let url =
            format!("{place}{}connect-timeout=1s", if place.contains('?') { "&" } else { "?" });
        let done = world.seinpaal(&["-s", &url, "run", "a", "true"]);
        assert_eq!((done.code, done.err.lines().count()), (69, 1), "{place}: {done:?}");
        assert!(!done.err.contains("s3cret"), "{done:?}");
    }
}

#[test]
fn what_is_no_store_url_is_64_and_says_what_would_be_one() {
    let world = World::embedded();
    for (url, hint) in [
        ("etcd://h", "zookeeper://"),
        ("redis+quorums://h", "redis+quorum://"),
        ("redis+quorum://a,b", "odd number"),
        ("redis+quorum://a,a,b", "twice"),
        ("redis+sentinel://a", "/MASTER"),
        ("redis+cluster://a/3", "database"),
        ("zookeeper://h/x?colour=red", "connect-timeout"),
        ("redis://h?colour=red", "restart-guard"),
    ] {
        let done = world.seinpaal(&["-s", url, "run", "a", "true"]);
        assert_eq!((done.code, done.err.lines().count()), (64, 1), "{url}: {done:?}");
        assert!(done.err.contains(hint), "{url}: {done:?}");
    }
}

#[test]
fn a_quorum_runs_commands_one_at_a_time_and_refuses_a_wrong_password() {
    let (worlds, hosts) = quorum("right");
    let mut world = World::embedded();
    world.store = format!("redis+quorum://:wrong@{hosts}");
    let done = world.seinpaal(&["run", "a", "true"]);
    assert_eq!((done.code, done.err.lines().count()), (77, 1), "{done:?}");
    assert!(!done.err.contains("wrong@"), "{done:?}");
    world.store = format!("redis+quorum://:right@{hosts}?restart-guard=off");
    let (held, _) = Held::hold(&world, &["a"]);
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    assert_eq!(held.let_go().code, 0);
    let done = world.seinpaal(&["run", "a", "sh", "-c", "echo $SEINPAAL_FENCE; exit 3"]);
    assert!(done.code == 3 && done.out.trim().parse::<u64>().is_ok(), "{done:?}");
    drop(worlds);
}

#[test]
fn a_quorum_keeps_no_queues_and_names_stores_that_do() {
    let (worlds, hosts) = quorum("right");
    let mut world = World::embedded();
    world.store = format!("redis+quorum://:right@{hosts}?restart-guard=off");
    for args in [&["push", "a", "x"][..], &["work", "a", "true"], &["show", "a"], &["list"]] {
        let done = world.seinpaal(&[&["queue"], args].concat());
        assert_eq!((done.code, done.err.lines().count()), (78, 1), "{args:?}: {done:?}");
        assert!(done.err.contains("keeps no queues: use file:"), "{done:?}");
    }
    drop(worlds);
}

#[test]
fn every_command_works_with_a_short_restart_guard() {
    let mut world = World::redis();
    world.store.push_str("?restart-guard=5s");
    let shown = world.seinpaal(&["show", "a"]);
    assert!(shown.out.contains("guarded"), "{shown:?}");
    let done = world.seinpaal(&["run", "a", "-v", "true"]);
    assert_eq!(done.code, 0, "it waits until the guard lets it in: {done:?}");
    assert!(done.err.contains("leases last 4s"), "{done:?}");
    let (held, _) = Held::hold(&world, &["b"]);
    let ticket = world.show("b")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    for args in [
        &["show", "a"][..],
        &["list"],
        &["limit", "a"],
        &["limit", "a", "2"],
        &["limit", "a", "--unset"],
        &["pause", "a"],
        &["resume", "a"],
        &["acquire", "c"],
        &["evict", "b", &ticket],
        &["queue", "push", "q", "x"],
        &["queue", "show", "q"],
        &["queue", "work", "q", "--until-empty", "cat"],
    ] {
        let done = world.seinpaal(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
    }
    drop(held);
    let done = world.seinpaal(&["run", "a", "--ttl", "5s", "true"]);
    assert_eq!(done.code, 64, "{done:?}");
    assert!(done.err.contains("restart-guard=6.25s"), "{done:?}");
}
