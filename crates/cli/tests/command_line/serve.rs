//! Tests of `serve`: the advice of a program that was built without it, and its signals.

use super::support::World;

#[cfg(not(feature = "serve"))]
#[test]
fn a_program_without_pages_says_how_to_build_one_that_has_them() {
    let output = World::embedded().command(&["serve"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{err}");
    assert!(err.contains("--features serve") && err.lines().count() == 1, "{err}");
}

#[cfg(feature = "serve")]
#[test]
fn pages_for_others_than_this_machine_need_tokens() {
    let world = World::embedded();
    let output = world.command(&["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{err}");
    assert!(err.contains("--token-file") && err.lines().count() == 1, "{err}");
}

/// Starts `serve`, and returns it with its address.
#[cfg(feature = "serve")]
fn serving(world: &World, args: &[&str]) -> (super::support::Held, String) {
    use std::io::{BufRead, BufReader};

    let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
    let mut serve = super::support::Held::start(world.command(&args));
    let said = BufReader::new(serve.process.stderr.as_mut().unwrap());
    let line = said.lines().map(Result::unwrap).find(|line| line.contains("serving on")).unwrap();
    let address = line.split_once("http://").unwrap().1.trim_end_matches('/').to_owned();
    (serve, address)
}

#[cfg(feature = "serve")]
#[test]
fn tstp_stops_it_and_cont_lets_it_go_on() {
    use std::{
        fs,
        io::{Read, Write},
        net::TcpStream,
    };

    use super::support::until;

    let world = World::embedded();
    let (mut serve, address) = serving(&world, &[]);
    let stat = format!("/proc/{}/stat", serve.pid());
    serve.signal("TSTP");
    until("it is stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
    serve.signal("CONT");
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    socket.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    serve.signal("TERM");
    assert_eq!(serve.end().code, 0);
}

/// The store is locked, as if another process were stopped inside it. So the change is under way
/// for as long as the test wants.
#[cfg(feature = "serve")]
#[test]
fn a_change_that_is_under_way_when_serve_ends_is_in_the_audit() {
    use std::{
        fs::{self, File},
        io::Write,
        net::TcpStream,
        os::unix::fs::MetadataExt,
    };

    use rustix::fs::{FlockOperation, flock};

    use super::support::until;

    let world = World::embedded();
    let (mut serve, address) = serving(&world, &["--api", "--allow-actions", "--audit", "audit"]);

    let gate = File::open(world.path("store/gate")).unwrap();
    flock(&gate, FlockOperation::LockExclusive).unwrap();
    let inode = format!(":{} ", gate.metadata().unwrap().ino());
    let mut socket = TcpStream::connect(&address).unwrap();
    let evict = "/v1/names/deploy/tickets/00000000000000000000000000000001/evict";
    let head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 19\r\n";
    write!(socket, "POST {evict} HTTP/1.1\r\n{head}\r\n{{\"reason\": \"hangs\"}}").unwrap();
    until("the change is at the store", || {
        let locks = fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains("->") && line.contains(&inode))
    });

    serve.signal("TERM");
    until("the port is closed", || TcpStream::connect(&address).is_err());
    serve.signal("TERM");
    assert_eq!(serve.end().code, 0);
    let audit: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(world.path("audit")).unwrap()).unwrap();
    assert_eq!(audit["reason"], "hangs", "{audit}");
    // The store did not answer in time, or its answer came too late.
    assert_ne!(audit["error"], "", "{audit}");
}

#[cfg(feature = "serve")]
#[test]
fn an_outage_is_one_line_when_it_begins_and_one_when_it_ends() {
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpStream,
    };

    let world = World::redis();
    let (mut serve, address) = serving(&world, &[]);
    // An open page asks the store again and again.
    let mut page = TcpStream::connect(address).unwrap();
    write!(page, "GET /live?of=name&n=a HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut said = BufReader::new(serve.process.stderr.take().unwrap()).lines().map(Result::unwrap);
    let redis = world.redis.as_ref().unwrap();
    for _ in 0..2 {
        redis.pause();
        let begin = said.next().unwrap();
        assert!(begin.contains("has not answered for") && begin.contains(&world.store), "{begin}");
        redis.resume();
        let end = said.next().unwrap();
        assert!(end.contains("the store answers again"), "{end}");
    }
    serve.signal("TERM");
    assert_eq!(serve.process.wait().unwrap().code(), Some(0));
}
