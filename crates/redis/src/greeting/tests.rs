use super::*;

fn judged(info: &str) -> Result<(), String> {
    judged_as(ServerKind::Server, info)
}

fn judged_as(kind: ServerKind, info: &str) -> Result<(), String> {
    ServerInfo::of_info(info).judge(kind, &"redis://a:1/0").map_err(|error| error.to_string())
}

fn of_hello(name: &str, value: &str) -> ServerInfo {
    let text = |text: &str| Value::BulkString(text.into());
    let modules = (text("modules"), Value::Array(Vec::new()));
    ServerInfo::of_hello(&Value::Map(vec![(text(name), text(value)), modules]))
}

#[test]
fn hello_says_the_same_as_info() {
    for (name, value, info) in [
        ("version", "6.0.16", "redis_version:6.0.16\r\n"),
        ("version", "8.0.1", "redis_version:7.2.4\r\nvalkey_version:8.0.1\r\n"),
        ("mode", "cluster", "redis_mode:cluster\r\n"),
        ("mode", "sentinel", "server_mode:sentinel\r\n"),
        ("role", "replica", "role:slave\r\n"),
        ("role", "master", "role:master\r\n"),
    ] {
        assert_eq!(of_hello(name, value), ServerInfo::of_info(info));
    }
    assert_eq!(ServerInfo::of_hello(&Value::Okay), ServerInfo::of_info(""), "it says nothing");
}

#[test]
fn versions_from_6_2_will_do() {
    for version in ["6.2.0", "7.0.15", "7.2.4", "8.0", "10.1.2", "unstable"] {
        assert_eq!(judged(&format!("redis_version:{version}\r\nrole:master\r\n")), Ok(()));
    }
}

#[test]
fn older_ones_are_refused_with_what_to_do() {
    for version in ["6.0.16", "5.0.7", "2.8.0"] {
        let error = judged(&format!("# Server\r\nredis_version:{version}\r\n")).unwrap_err();
        assert!(error.contains(version) && error.contains("upgrade"), "{error}");
    }
}

#[test]
fn a_mode_that_the_url_does_not_promise_is_refused_with_the_scheme_to_use() {
    for (mode, kind, scheme) in [
        ("sentinel", ServerKind::Server, "redis+sentinel://"),
        ("sentinel", ServerKind::Cluster, "redis+sentinel://"),
        ("cluster", ServerKind::Server, "redis+cluster://"),
        ("standalone", ServerKind::Cluster, "redis://"),
    ] {
        let error = judged_as(kind, &format!("redis_mode:{mode}\r\n")).unwrap_err();
        assert!(error.contains(scheme), "{error}");
    }
    assert_eq!(judged("redis_mode:standalone\r\n"), Ok(()));
    assert_eq!(judged_as(ServerKind::Cluster, "redis_mode:cluster\r\n"), Ok(()));
}

#[test]
fn a_cluster_that_is_too_old_for_sharded_channels_is_refused() {
    let info = "redis_version:6.2.16\r\nredis_mode:cluster\r\n";
    let error = judged_as(ServerKind::Cluster, info).unwrap_err();
    assert!(error.contains("6.2.16") && error.contains("upgrade"), "{error}");
}

#[test]
fn a_replica_is_refused_with_the_name_of_its_master() {
    let error = judged("role:slave\r\nmaster_host:db1\r\nmaster_port:6380\r\n").unwrap_err();
    assert!(error.contains("db1:6380"), "{error}");
    assert!(judged("role:slave\r\n").is_err(), "also if the server does not name it");
    assert_eq!(judged_as(ServerKind::Cluster, "role:slave\r\n"), Ok(()));
}

#[test]
fn a_refusal_of_hello_is_told_from_a_refusal_of_the_login() {
    let refused = |code: &str, said: &str| {
        CallError::from(redis::make_extension_error(code.to_owned(), Some(said.to_owned())))
    };
    for (code, said) in [
        ("NOPROTO", "unsupported protocol version"),
        ("ERR", "unknown command `HELLO`, with args beginning with: `3`, "),
        ("NOPERM", "this user has no permissions to run the 'hello' command"),
    ] {
        assert!(refuses_hello(&refused(code, said)), "{said}");
    }
    for (code, said) in [
        ("WRONGPASS", "invalid username-password pair or user is disabled."),
        ("NOAUTH", "HELLO must be called with the client already authenticated"),
        ("NOPERM", "this user has no permissions to run the 'select' command"),
    ] {
        assert!(!refuses_hello(&refused(code, said)), "{said}");
    }
}
