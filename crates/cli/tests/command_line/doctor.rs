//! Tests of `doctor`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use seinpaal_rig::{Clocks, FakeAnswer, FakeServer, RedisServer, SentinelServers};

use super::support::{World, both};

/// Starts a server without a problem that `doctor` finds.
fn healthy() -> World {
    World::with_redis(&["--appendonly", "yes", "--appendfsync", "no"])
}

fn json(world: &World, args: &[&str]) -> (i32, serde_json::Value) {
    let done = world.seinpaal(&[&["doctor", "--json"], args].concat());
    let lines = done.out.lines().count();
    assert_eq!(lines, 1, "{done:?}");
    (done.code, serde_json::from_str(&done.out).unwrap())
}

#[test]
fn where_all_is_well_it_ends_with_0_and_says_what_it_saw() {
    let world = healthy();
    let done = world.seinpaal(&["doctor"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    for word in [
        "version",
        "persistence",
        "append-only file",
        "replicas",
        "memory limit",
        "noeviction",
        "clock",
        "round trip",
    ] {
        assert!(done.out.contains(word), "{word}: {done:?}");
    }
    assert!(!done.out.contains("RISK"), "{done:?}");
    assert!(done.out.ends_with("all well\n"), "{done:?}");
}

#[test]
fn a_setting_that_endangers_a_promise_is_1_and_named_with_the_remedy() {
    let world = World::with_redis(&[
        "--appendonly",
        "yes",
        "--maxmemory",
        "100mb",
        "--maxmemory-policy",
        "allkeys-lru",
    ]);
    let done = world.seinpaal(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    let risks: Vec<_> = done.out.lines().filter(|line| line.starts_with("RISK")).collect();
    assert_eq!(risks.len(), 1, "{done:?}");
    assert!(risks[0].contains("allkeys-lru") && risks[0].contains("noeviction"), "{risks:?}");
    assert!(done.out.contains("100.00M"), "the memory limit: {done:?}");
}

#[test]
fn a_server_that_keeps_nothing_is_at_risk_unless_it_is_guarded() {
    let world = World::redis();
    let (code, said) = json(&world, &[]);
    assert_eq!((code, &said["advice"][0]["is_risk"]), (1, &true.into()), "{said}");
    assert_eq!(said["facts"]["persistence"], "none");
    let store = format!("{}?restart-guard=on", world.store);
    assert_eq!(world.seinpaal(&["doctor", "-s", &store]).code, 0);
}

#[test]
fn snapshots_alone_are_a_risk_and_with_a_guard_a_hint() {
    let world = World::with_redis(&["--save", "3600 1"]);
    let (code, said) = json(&world, &[]);
    assert_eq!((code, &said["advice"][0]["is_risk"]), (1, &true.into()), "{said}");
    let text = said["advice"][0]["text"].as_str().unwrap();
    assert!(text.contains("only snapshots") && text.contains("queue items"), "{said}");
    let store = format!("{}?restart-guard=on", world.store);
    let (code, said) = json(&world, &["-s", &store]);
    assert_eq!((code, &said["advice"][0]["is_risk"]), (0, &false.into()), "{said}");
    let text = said["advice"][0]["text"].as_str().unwrap();
    assert!(text.contains("only snapshots") && !text.contains("restart-guard"), "{said}");
}

#[test]
fn a_server_that_refuses_writes_is_at_risk_and_still_described() {
    for (setting, why) in [
        (["maxmemory", "1"], "no memory left"),
        (["min-replicas-to-write", "1"], "too few replicas"),
    ] {
        let world = healthy();
        let redis = world.redis.as_ref().unwrap();
        redis.say(&[&["CONFIG", "SET"], &setting[..]].concat()).unwrap();
        let done = world.seinpaal(&["doctor"]);
        assert_eq!(done.code, 1, "{done:?}");
        let is_told = |line: &str| line.starts_with("RISK  nobody gets in: ") && line.contains(why);
        assert!(done.out.lines().any(is_told), "{done:?}");
        assert!(done.out.contains("\nversion "), "{done:?}");
    }
}

#[test]
fn a_directory_in_which_everybody_may_write_is_a_risk() {
    let world = World::embedded();
    assert_eq!(world.seinpaal(&["doctor"]).code, 0);
    fs::set_permissions(world.path("store"), Permissions::from_mode(0o777)).unwrap();
    let done = world.seinpaal(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.out.contains("mode 0777") && done.out.contains("chmod o-w"), "{done:?}");
}

#[test]
fn figures_in_json_end_at_the_microsecond() {
    let (_, said) = json(&healthy(), &[]);
    for figure in ["connected_in_ms", "round_trip_ms", "longest_round_trip_ms"] {
        let text = said[figure].to_string();
        let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
        assert!(decimals.len() <= 3, "{figure}: {text}");
    }
}

#[test]
fn what_is_merely_worse_is_a_hint_and_no_risk() {
    let world = World::with_redis(&["--appendonly", "yes", "--timeout", "5"]);
    let (code, said) = json(&world, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(said["advice"][0]["is_risk"], false);
    assert!(said["advice"][0]["text"].as_str().unwrap().contains("timeout is 5 s"), "{said}");
}

#[test]
fn nothing_there_is_69_and_says_what_to_do() {
    for store in ["redis://127.0.0.1:1/?connect-timeout=1s", "unix:///nowhere/redis.sock"] {
        let done = World::embedded().seinpaal(&["doctor", "-s", store]);
        assert_eq!((done.code, done.out.as_str()), (69, ""), "{done:?}");
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
    }
}

#[test]
fn a_server_that_falls_silent_is_69() {
    let world = healthy();
    world.redis.as_ref().unwrap().pause();
    let store = format!("{}?connect-timeout=1s", world.store);
    let done = world.seinpaal(&["doctor", "-s", &store]);
    world.redis.as_ref().unwrap().resume();
    assert_eq!((done.code, done.err.lines().count()), (69, 1), "{done:?}");
}

#[test]
fn a_server_that_cannot_be_used_says_so_like_every_command() {
    let world = World::with_redis(&["--requirepass", "hush"]);
    let done = world.seinpaal(&["doctor"]);
    assert_eq!((done.code, done.err.lines().count()), (77, 1), "{done:?}");
    assert!(!done.err.contains("hush"), "{done:?}");
}

/// Returns the status of a `doctor` that could not use the store, and the one line that it prints.
fn refused(store: &str) -> (i32, String) {
    let done = World::embedded().seinpaal(&["doctor", "-s", store]);
    assert_eq!((done.out.as_str(), done.err.lines().count()), ("", 1), "{done:?}");
    (done.code, done.err)
}

#[test]
fn a_replica_alone_is_69_and_names_its_master() {
    let master = RedisServer::start();
    let of = format!("127.0.0.1 {}", master.port());
    let replica = RedisServer::with(&["--replicaof", &of]);
    let (code, said) = refused(&replica.url(""));
    assert_eq!(code, 69, "{said}");
    let port = master.port().to_string();
    assert!(said.contains("is a replica") && said.contains(&port), "{said}");
}

#[test]
fn a_node_of_a_cluster_used_as_one_server_is_78_and_says_what_to_write() {
    let node = RedisServer::with(&["--cluster-enabled", "yes"]);
    let (code, said) = refused(&node.url(""));
    assert_eq!(code, 78, "{said}");
    assert!(said.contains("part of a cluster") && said.contains("redis+cluster://"), "{said}");
}

#[test]
fn a_server_that_is_too_old_is_78_and_says_which_is_not() {
    let old = FakeServer::start(|words| match words[0].as_str() {
        "HELLO" => FakeAnswer::Say(b"%1\r\n+version\r\n+6.0.16\r\n".to_vec()),
        _ => FakeAnswer::AsUsual,
    });
    let (code, said) = refused(&old.url());
    assert_eq!(code, 78, "{said}");
    assert!(said.contains("6.0.16") && said.contains("6.2"), "{said}");
}

#[test]
fn a_right_that_is_missing_is_77_and_named() {
    let redis = RedisServer::start();
    let user = "ACL SETUSER app on >hush ~* &* +@all -hgetall";
    redis.say(&user.split(' ').collect::<Vec<_>>()).unwrap();
    let (code, said) = refused(&format!("redis://app:hush@127.0.0.1:{}", redis.port()));
    assert_eq!(code, 77, "{said}");
    assert!(said.contains("HGETALL") && said.contains("+hgetall"), "{said}");
    assert!(!said.contains("hush"), "{said}");
}

#[test]
fn a_run_that_lacks_a_right_is_77_and_names_it() {
    let world = World::redis();
    let redis = world.redis.as_ref().unwrap();
    let user = "ACL SETUSER app on >hush ~other:* &* +@all";
    redis.say(&user.split(' ').collect::<Vec<_>>()).unwrap();
    let store = format!("redis://app:hush@127.0.0.1:{}", redis.port());
    let done = world.seinpaal(&["run", "-s", &store, "a", "true"]);
    assert_eq!((done.code, done.err.lines().count()), (77, 1), "{done:?}");
    assert!(done.err.contains("~seinpaal:*") && !done.err.contains("hush"), "{done:?}");
}

#[test]
fn a_run_tells_of_risks_with_v_and_asks_nothing_without() {
    let world = World::redis();
    let asked = || world.redis.as_ref().unwrap().say(&["INFO", "commandstats"]).unwrap();
    let quiet = world.seinpaal(&["run", "a", "true"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""), "{quiet:?}");
    let stats = asked().join("\n");
    for command in ["config", "subscribe", "info"] {
        let is_asked = stats.contains(&format!("cmdstat_{command}"));
        assert_eq!(is_asked, command == "subscribe", "{command}: {stats}");
    }
    let loud = world.seinpaal(&["run", "-v", "a", "true"]);
    assert!(loud.code == 0 && loud.err.contains("nothing is kept on disk"), "{loud:?}");
}

#[test]
fn a_clock_that_is_an_hour_off_is_told_and_endangers_nothing() {
    let clocks = Clocks::new().unwrap();
    assert!(clocks.can_be_set(), "faketime is missing: install it");
    let redis = clocks.server("server", &["--appendonly", "yes"]).unwrap();
    clocks.set("server", 3600);
    let (code, said) = json(&World::embedded(), &["-s", &redis.url("")]);
    assert_eq!(code, 0, "leases go by the server's clock alone: {said}");
    let clock = said["facts"]["clock"].as_str().unwrap();
    assert!(clock.starts_with("3600 s ahead") || clock.starts_with("3599 s ahead"), "{said}");
}

#[test]
fn the_outage_that_a_ttl_survives_is_that_of_its_schedule() {
    let world = healthy();
    let (_, usual) = json(&world, &[]);
    let (_, longer) = json(&world, &["--ttl", "1m"]);
    let known =
        |said: &serde_json::Value, what: &str| (said[what].as_f64().unwrap() / 100.0).round();
    // The figures of docs/guide/command-line.md, in tenths of a second.
    assert_eq!(
        (known(&usual, "survives_any_outage_ms"), known(&usual, "survives_some_outages_ms")),
        (160.0, 212.0)
    );
    assert_eq!(
        (known(&longer, "survives_any_outage_ms"), known(&longer, "survives_some_outages_ms")),
        (329.0, 434.0)
    );
    let done = world.seinpaal(&["doctor", "--ttl", "1m"]);
    assert!(done.out.contains("32.9s") && done.out.contains("43.4s"), "{done:?}");
    assert_eq!(world.seinpaal(&["doctor", "--ttl", "1ms"]).code, 64);
}

#[test]
fn the_embedded_store_tells_its_directory_and_its_disk() {
    let world = World::embedded();
    let (code, said) = json(&world, &[]);
    assert_eq!(code, 0, "{said}");
    let facts = &said["facts"];
    let directory = world.path("store").display().to_string();
    assert_eq!(facts["directory"], directory.as_str(), "{said}");
    for fact in ["file system", "rights", "disk room"] {
        assert!(facts[fact].is_string(), "{fact}: {said}");
    }
    assert!(said["survives_any_outage_ms"].is_null(), "{said}");
    assert!(world.seinpaal(&["doctor"]).out.contains("no outage ends it"));
}

#[test]
fn it_leaves_no_name_behind() {
    for world in both() {
        world.seinpaal(&["doctor"]);
        assert_eq!(world.seinpaal(&["list"]).out, world.seinpaal(&["list", "no-such-name"]).out);
    }
}

#[test]
fn behind_sentinels_the_master_is_examined() {
    let sentinels = SentinelServers::shared();
    let (code, said) = json(&World::embedded(), &["-s", &sentinels.url("")]);
    assert_eq!(code, 1, "without replicated=N: {said}");
    assert!(said["facts"]["replicas"].is_string(), "{said}");
    let fail_over = said["facts"]["fail-over"].as_str().unwrap();
    assert!(fail_over.starts_with("begins after 1.5s of silence; any lease of "), "{said}");
    assert!(said["advice"].to_string().contains("replicated=N"), "{said}");
}

#[test]
fn of_a_quorum_each_server_is_examined() {
    let options = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let nodes: Vec<_> = (0..3).map(|_| RedisServer::with(&options)).collect();
    let places: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = format!("redis+quorum://{}", places.join(","));
    let (code, said) = json(&World::embedded(), &["-s", &url]);
    assert_eq!((code, &said["facts"]["nodes"]), (1, &"3 of 3 answer".into()), "{said}");
    for place in places {
        let is_there = |line: &serde_json::Value| line["text"].as_str().unwrap().contains(&place);
        assert!(said["advice"].as_array().unwrap().iter().any(is_there), "{place}: {said}");
    }
}

#[test]
fn a_quorum_that_has_lost_a_server_is_at_risk() {
    let mut nodes: Vec<_> = (0..3).map(|_| RedisServer::start()).collect();
    let places: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = format!("redis+quorum://{}", places.join(","));
    let world = World::embedded();
    let (code, said) = json(&world, &["-s", &url]);
    assert_eq!(code, 0, "the guard covers what the servers forget: {said}");
    nodes.pop();
    let (code, said) = json(&world, &["-s", &url]);
    assert_eq!((code, &said["facts"]["nodes"]), (1, &"2 of 3 answer".into()), "{said}");
    assert!(said["advice"][0]["text"].as_str().unwrap().contains(&places[2]), "{said}");
}

/// The offset of the count of held permits in the header of a name.
const HELD: usize = 4 + 4;

#[test]
fn a_ledger_that_contradicts_itself_is_1_and_named_with_the_remedy() {
    let world = healthy();
    assert_eq!(world.seinpaal(&["limit", "boards", "2"]).code, 0);
    assert_eq!(world.seinpaal(&["acquire", "boards"]).code, 0);
    world.push("mails", "to: ann");
    let whole = world.seinpaal(&["doctor"]);
    assert_eq!(whole.code, 0, "{whole:?}");
    assert!(whole.out.contains("1 name and 1 queue looked at\n"), "{whole:?}");
    let plant = format!(
        "local head = redis.call('hget', KEYS[1], 'h') \
         redis.call('hset', KEYS[1], 'h', head:sub(1, {HELD}) .. '\\5' .. head:sub({}))",
        HELD + 2
    );
    world.redis.as_ref().unwrap().say(&["EVAL", &plant, "1", "seinpaal:{boards}"]).unwrap();
    let done = world.seinpaal(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    let risks: Vec<_> = done.out.lines().filter(|line| line.starts_with("RISK")).collect();
    assert_eq!(risks.len(), 1, "{done:?}");
    assert!(risks[0].contains("the name boards: the head counts 5 permits held"), "{risks:?}");
    assert!(risks[0].contains("docs/guide/operating.md"), "{risks:?}");
    let (code, said) = json(&world, &[]);
    assert_eq!((code, &said["ledgers"]["contradictions"]), (1, &1.into()), "{said}");
    // The name of `doctor` itself is still remembered.
    assert_eq!((&said["ledgers"]["names"], &said["ledgers"]["all"]), (&2.into(), &true.into()));
    let (code, said) = json(&world, &["--ledgers", "0"]);
    assert_eq!((code, said["ledgers"].is_null()), (0, true), "{said}");
}

#[test]
fn no_more_ledgers_are_looked_at_than_asked_for_and_it_says_so() {
    for world in [healthy(), World::embedded()] {
        for name in ["a", "b", "c"] {
            assert_eq!(world.seinpaal(&["limit", name, "2"]).code, 0);
        }
        let done = world.seinpaal(&["doctor", "--ledgers", "2"]);
        assert_eq!(done.code, 0, "{done:?}");
        let words = "2 names and 0 queues looked at; there are more (--ledgers N)";
        assert!(done.out.contains(words), "{done:?}");
        let (_, said) = json(&world, &[]);
        let names = said["ledgers"]["names"].as_u64();
        assert!(matches!(names, Some(3 | 4)), "three and that of doctor itself: {said}");
        assert_eq!(said["ledgers"]["all"], true);
    }
}
