use super::*;

#[test]
fn a_replica_is_promoted_when_the_master_is_killed_and_the_old_one_follows_it() {
    let mut servers = SentinelServers::start(1);
    let old = servers.master();
    servers.kill(old);
    servers.until_promoted(old);
    servers.start_again(old);
    servers.until_whole();
    assert_ne!(servers.master(), old);
}

#[test]
fn what_is_written_while_replication_is_cut_is_gone_after_a_failover() {
    let mut servers = SentinelServers::start(1);
    let old = servers.master();
    servers.cut_replication();
    servers.ask(old, "SET key value").unwrap();
    servers.kill(old);
    servers.replicas().iter().for_each(|replica| servers.resume(*replica));
    servers.until_promoted(old);
    assert_eq!(servers.ask(servers.master(), "GET key").unwrap(), [""]);
}
