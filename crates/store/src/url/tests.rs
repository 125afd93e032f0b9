use std::{path::Path, time::Duration};

use super::*;

fn redis(text: &str) -> RedisUrl {
    match StoreUrl::parse(text) {
        Ok(StoreUrl::Redis(url)) => url,
        other => panic!("{text}: {other:?}"),
    }
}

fn refusal(text: &str) -> String {
    StoreUrl::parse(text).expect_err(text).to_string()
}

#[test]
fn the_embedded_store_is_the_default_place_or_a_directory() {
    assert_eq!(StoreUrl::parse("file:"), Ok(StoreUrl::default()));
    for text in ["file:///var/a%20b", "file:/var/a%20b", "FILE:///var/a b"] {
        let Ok(StoreUrl::Embedded(Some(directory))) = StoreUrl::parse(text) else { panic!() };
        assert_eq!(directory, Path::new("/var/a b"));
    }
}

#[test]
fn a_relative_directory_or_a_host_is_refused() {
    for text in ["file://", "file:here", "file://host/dir", "file:./a"] {
        assert_eq!(StoreUrl::parse(text), Err(BadStoreUrl::NotAbsolute), "{text}");
    }
}

#[test]
fn the_memory_store_has_no_place_and_no_options() {
    assert_eq!(StoreUrl::parse("memory:"), Ok(StoreUrl::Memory(String::new())));
    assert_eq!(StoreUrl::parse("memory:a%2Fb"), Ok(StoreUrl::Memory("a/b".into())));
    assert_eq!(StoreUrl::parse("memory:a/b"), Err(BadStoreUrl::BadMemoryLabel));
    assert!(refusal("memory:?prefix=a").contains("it has none"));
}

#[test]
fn the_text_of_a_memory_store_is_read_as_the_same_store() {
    for label in ["", "a", "a/b", "//a", "a@b", "ann:x@b", "50%", "a?b#c", "\n"] {
        let url = StoreUrl::Memory(label.to_owned());
        assert_eq!(StoreUrl::parse(&url.to_string()), Ok(url.clone()), "{url}");
    }
}

#[test]
fn a_redis_url_has_all_its_parts() {
    let url = redis("rediss://ann:p%40ss@db.example:7000/3?prefix=a%3A&connect-timeout=500ms");
    let address = RedisAddress::Tcp { host: "db.example".into(), port: 7000, tls: true };
    assert_eq!(url.address, address);
    assert_eq!(url.user.as_deref(), Some("ann"));
    assert_eq!(url.password.as_ref().map(Password::reveal), Some("p@ss"));
    assert_eq!(url.database, 3);
    assert_eq!(url.options.prefix.as_deref(), Some("a:"));
    assert_eq!(url.options.connect_timeout, Some(Duration::from_millis(500)));
}

#[test]
fn what_a_redis_url_leaves_out_has_the_usual_default() {
    let url = redis("valkey://h");
    assert_eq!(url.address, RedisAddress::Tcp { host: "h".into(), port: 6379, tls: false });
    assert_eq!((url.user, url.password, url.database), (None, None, 0));
    assert_eq!(url.options, RedisOptions::default());
}

#[test]
fn an_ipv6_address_stands_in_brackets() {
    let url = redis("redis://[::1]:6380");
    assert_eq!(url.address, RedisAddress::Tcp { host: "::1".into(), port: 6380, tls: false });
    assert_eq!(url.to_string(), "redis://[::1]:6380/0");
}

#[test]
fn a_socket_has_its_login_and_database_as_parameters() {
    let url = redis("unix:///run/redis.sock?db=2&user=ann&pass=secret");
    assert_eq!(url.address, RedisAddress::Unix("/run/redis.sock".into()));
    assert_eq!((url.user.as_deref(), url.database), (Some("ann"), 2));
    assert_eq!(url.password.as_ref().map(Password::reveal), Some("secret"));
    assert_eq!(StoreUrl::parse("unix:redis.sock"), Err(BadStoreUrl::BadSocket));
}

#[test]
fn every_redis_option_is_read() {
    let options =
        redis("redis://h?replicated=2&restart-guard=on&clock-bound=1.5s&prefix=x").options;
    assert_eq!(options.replicated, Some(2));
    assert_eq!(options.restart_guard, Some(RestartGuard::ON));
    assert_eq!(options.clock_bound, Some(ClockBound::At(Duration::from_millis(1500))));
    assert_eq!(redis("redis://h?clock-bound=off").options.clock_bound, Some(ClockBound::Off));
}

#[test]
fn a_value_that_an_option_cannot_have_is_refused() {
    for query in [
        "replicated=0",
        "replicated=x",
        "restart-guard=yes",
        "restart-guard=1ms",
        "restart-guard=31h",
        "clock-bound=0",
        "prefix=",
    ] {
        let error = StoreUrl::parse(&format!("redis://h?{query}"));
        assert!(matches!(error, Err(BadStoreUrl::BadOption { .. })), "{query}: {error:?}");
    }
    assert_eq!(
        StoreUrl::parse("redis://h?prefix=a&prefix=b"),
        Err(BadStoreUrl::TwiceGiven("prefix"))
    );
}

#[test]
fn an_unknown_option_is_refused_with_those_known() {
    let message = refusal("redis://h?timeout=3");
    assert!(message.contains("\"timeout\""), "{message}");
    for known in RedisOptions::KNOWN {
        assert!(message.contains(known), "{message}");
    }
}

#[test]
fn an_unknown_scheme_is_refused_with_those_known() {
    let message = refusal("etcd://h");
    for part in ["\"etcd\"", "file:", "memory:", "redis://", "unix://", "valkeys://"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn malformed_hosts_ports_and_databases_are_refused() {
    for text in ["redis:h", "redis://[::1", "redis://a b", "redis://a,b"] {
        assert_eq!(StoreUrl::parse(text), Err(BadStoreUrl::BadHost), "{text}");
    }
    for text in ["redis://h:0", "redis://h:x", "redis://h:70000", "redis://h:", "redis://[::1]x"] {
        assert_eq!(StoreUrl::parse(text), Err(BadStoreUrl::BadPort), "{text}");
    }
    assert_eq!(StoreUrl::parse("redis://h/x"), Err(BadStoreUrl::BadDatabase));
    assert_eq!(StoreUrl::parse("redis://h?prefix=%zz"), Err(BadStoreUrl::BadEscape));
}

#[test]
fn a_password_shows_in_no_text_and_no_error() {
    for text in ["redis://ann:hunter2@h", "redis://hunter2@h", "unix:///s?pass=hunter2"] {
        let url = StoreUrl::parse(text).unwrap();
        assert!(!format!("{url} {url:?} {url:#?}").contains("hunter2"), "{text}");
    }
    for text in [
        "hunter2:hunter2@h",
        "hunter2@h",
        "redis:hunter2@h",
        "redis://:hunter2/x@h",
        "redis://:hun?hunter2@h",
        "redis://:hun#hunter2@h",
        "redis://:hunter2@h:x",
        "redis://:hunter2@h/hunter2",
        "redis://:%hunter2@h",
        "redis://ann:hunter2@h?nonsense=hunter2",
        "etcd://:hunter2@h",
        "redis+cluster://:hunter2@h",
        "unix:///s?pass=hunter&2hunter2",
        "unix:///s?pass=hunter&%32hunter2=x",
        "redis+sentinel://a/m?sentinel-pass=hunter&hunter2",
        "redis+sentinel://a/m?sentinel-pass=hunter&prefix=x&hunter2",
        "file:hunter2@h",
        "unix:hunter2@h",
        "memory:hunter2@h",
    ] {
        if let Err(error) = StoreUrl::parse(text) {
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}: {error}");
        }
    }
}

#[test]
fn an_unknown_option_behind_a_password_may_be_the_end_of_it_and_the_error_says_how_to_write_it() {
    for text in ["unix:///s?pass=a&b", "redis+sentinel://a/m?sentinel-pass=a&prefix=x&b"] {
        let message = refusal(text);
        assert!(message.contains("%26") && message.contains("prefix"), "{message}");
    }
    assert!(refusal("unix:///s?b&pass=a").contains("\"b\""));
}

#[test]
fn an_at_sign_is_part_of_a_path() {
    let Ok(StoreUrl::Embedded(Some(directory))) = StoreUrl::parse("file:/home/me@corp/d") else {
        panic!()
    };
    assert_eq!(directory, Path::new("/home/me@corp/d"));
    assert_eq!(redis("unix:/run/a@b.sock").address, RedisAddress::Unix("/run/a@b.sock".into()));
    assert_eq!(StoreUrl::parse("file:me@corp/d"), Err(BadStoreUrl::NotAbsolute));
    assert_eq!(StoreUrl::parse("unix:a@b.sock"), Err(BadStoreUrl::BadSocket));
    assert_eq!(StoreUrl::parse("memory:a@b"), Err(BadStoreUrl::BadMemoryLabel));
}

#[test]
fn a_list_of_servers_names_a_host_between_all_its_commas() {
    for text in [
        "redis+quorum://a,b,",
        "redis+quorum://,a,b",
        "redis+quorum://a,,b",
        "redis+quorum://a,b,:6379",
        "redis+quorum://a,b,[]",
        "redis+cluster://a,",
        "redis+cluster://,",
        "redis+sentinel://a,/m",
        "redis+sentinel://,a/m",
        "redis+sentinel://a,,b/m",
        "zookeeper://a,,b/x",
        "zookeeper://a,",
    ] {
        assert_eq!(StoreUrl::parse(text), Err(BadStoreUrl::BadHost), "{text}");
    }
}

#[test]
fn without_a_host_one_server_is_on_this_machine() {
    let localhost = RedisAddress::Tcp { host: "localhost".into(), port: 6379, tls: false };
    for text in ["redis://", "redis:///0", "redis://:6379", "redis://:x@"] {
        assert_eq!(redis(text).address, localhost, "{text}");
    }
    for text in ["redis+cluster://", "redis+sentinel:///m", "zookeeper:///x"] {
        assert!(StoreUrl::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn a_number_is_digits_alone() {
    for (text, refused) in [
        ("redis://h:+6379", BadStoreUrl::BadPort),
        ("redis+quorum://a,b,c:+1", BadStoreUrl::BadPort),
        ("redis://h/+3", BadStoreUrl::BadDatabase),
        ("unix:///s?db=+3", BadStoreUrl::BadDatabase),
    ] {
        assert_eq!(StoreUrl::parse(text), Err(refused), "{text}");
    }
    assert!(refusal("redis://h?replicated=+1").contains("replicated"));
}

#[test]
fn the_text_form_is_one_line_and_means_the_same_store() {
    for text in [
        "file:///a%20b%0A%25c%3Fd",
        "redis://h%2Fx:1/2",
        "redis://a%40b%5D:1/0",
        "unix:///run/a%0Ab.sock?db=3",
        "redis+cluster://a%2Fb:1,c:2",
        "redis+sentinel://h:1/m%2Fn/3",
        "zookeeper://a:1/",
        "zookeeper://a:1/x%40y",
        "file:/home/me@corp/d",
        "unix:/run/a@b.sock",
    ] {
        let url = StoreUrl::parse(text).unwrap();
        assert_eq!(StoreUrl::parse(&url.to_string()), Ok(url.clone()), "{text}: {url}");
        assert!(!url.to_string().contains(char::is_control), "{url:?}");
    }
    let url = StoreUrl::parse("redis://a%0A%3Ab%2F:secret@h").unwrap();
    assert_eq!(url.to_string(), "redis://a%0A%3Ab%2F@h:6379/0");
}

#[test]
fn a_store_that_is_not_built_in_names_the_feature_that_it_needs() {
    let missing = |text| StoreUrl::parse(text).unwrap().missing_feature();
    assert_eq!(missing("memory:"), None);
    let servers =
        ["redis://h", "redis+sentinel://h/m", "redis+cluster://h", "redis+quorum://a,b,c"];
    let stores = servers.map(|url| (url, "redis", cfg!(feature = "redis")));
    for (url, feature, is_enabled) in [
        ("file:", "embedded", cfg!(feature = "embedded")),
        ("zookeeper://h", "zookeeper", cfg!(feature = "zookeeper")),
    ]
    .into_iter()
    .chain(stores)
    {
        assert_eq!(missing(url), (!is_enabled).then_some(feature), "{url}");
    }
}
