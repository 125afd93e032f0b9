use super::*;

fn judged(server: &str, replication: &str) -> Result<(), String> {
    judged_as(ServerKind::Server, server, replication)
}

fn judged_as(kind: ServerKind, server: &str, replication: &str) -> Result<(), String> {
    let keys = Keys::new("seinpaal:").unwrap();
    let subject = LookedAt::plain(&keys, kind);
    judge(server, replication, &subject).map_err(|error| error.to_string())
}

#[test]
fn versions_from_6_2_will_do() {
    for version in ["6.2.0", "7.0.15", "7.2.4", "8.0", "10.1.2", "unstable"] {
        assert_eq!(judged(&format!("redis_version:{version}\r\n"), "role:master"), Ok(()));
    }
}

#[test]
fn older_ones_are_refused_with_what_to_do() {
    for version in ["6.0.16", "5.0.7", "2.8.0"] {
        let error = judged(&format!("# Server\r\nredis_version:{version}\r\n"), "").unwrap_err();
        assert!(error.contains(version) && error.contains("upgrade"), "{error}");
    }
}

#[test]
fn a_mode_that_the_url_does_not_promise_is_refused_with_the_scheme_to_use() {
    for name in ["redis_mode", "server_mode"] {
        for (mode, kind, scheme) in [
            ("sentinel", ServerKind::Server, "redis+sentinel://"),
            ("sentinel", ServerKind::Cluster, "redis+sentinel://"),
            ("cluster", ServerKind::Server, "redis+cluster://"),
            ("standalone", ServerKind::Cluster, "redis://"),
        ] {
            let error = judged_as(kind, &format!("{name}:{mode}\r\n"), "").unwrap_err();
            assert!(error.contains(scheme), "{error}");
        }
        assert_eq!(judged_as(ServerKind::Server, &format!("{name}:standalone\r\n"), ""), Ok(()));
        assert_eq!(judged_as(ServerKind::Cluster, &format!("{name}:cluster\r\n"), ""), Ok(()));
    }
}

#[test]
fn a_cluster_that_is_too_old_for_sharded_channels_is_refused() {
    let info = "redis_version:6.2.16\r\nredis_mode:cluster\r\n";
    let error = judged_as(ServerKind::Cluster, info, "").unwrap_err();
    assert!(error.contains("6.2.16") && error.contains("upgrade"), "{error}");
}

#[test]
fn a_valkey_is_as_old_as_it_says_itself() {
    let info = "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n";
    assert_eq!(version(info), Some("9.1.2"));
    assert_eq!(judged(info, "role:master"), Ok(()));
}

#[test]
fn a_replica_is_refused_with_the_name_of_its_master() {
    let error = judged("", "role:slave\r\nmaster_host:db1\r\nmaster_port:6380\r\n").unwrap_err();
    assert!(error.contains("db1:6380"), "{error}");
}
