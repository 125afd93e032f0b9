use std::net::TcpStream;

use super::*;

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_is_gone_when_its_handle_is() {
    let server = RedisServer::start();
    let port = server.port();
    assert!(listens(port));
    drop(server);
    assert!(!listens(port));
}

#[test]
fn two_servers_do_not_get_in_each_others_way() {
    let (one, other) = (RedisServer::start(), RedisServer::start());
    one.say(&["SET", "key", "one"]).unwrap();
    assert_eq!(other.say(&["GET", "key"]).unwrap(), [""]);
}

#[test]
fn a_server_keeps_what_it_has_on_disk_until_it_is_to_forget_it() {
    let mut server = RedisServer::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    server.say(&["SET", "key", "value"]).unwrap();
    server.start_again();
    assert_eq!(server.say(&["GET", "key"]).unwrap(), ["value"]);
    server.kill_and_forget();
    server.start_again();
    assert_eq!(server.say(&["GET", "key"]).unwrap(), [""]);
}

#[test]
fn a_server_that_does_not_take_its_arguments_is_not_waited_for() {
    let error = RedisServer::try_within(&["--no-such-thing", "1"], &[]).unwrap_err();
    assert!(error.to_string().contains("no-such-thing"), "{error}");
}
