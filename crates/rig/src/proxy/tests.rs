use std::io::{Read, Write};

use super::*;

const BOUND: Duration = Duration::from_secs(30);

/// Starts a server that repeats what it hears, and connects a client through a proxy.
fn talk() -> (Proxy, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut copy = stream.try_clone().unwrap();
            thread::spawn(move || io::copy(&mut stream, &mut copy));
        }
    });
    let proxy = Proxy::start(port).unwrap();
    let client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    client.set_read_timeout(Some(BOUND)).unwrap();
    (proxy, client)
}

fn say(client: &mut TcpStream, what: &[u8]) {
    client.write_all(what).unwrap();
}

fn hear(client: &mut TcpStream, length: usize) -> io::Result<Vec<u8>> {
    let mut heard = vec![0; length];
    client.read_exact(&mut heard).map(|()| heard)
}

#[test]
fn what_is_said_comes_through() {
    let (_proxy, mut client) = talk();
    say(&mut client, b"hello");
    assert_eq!(hear(&mut client, 5).unwrap(), b"hello");
}

#[test]
fn an_answer_is_cut_at_the_byte() {
    let (proxy, mut client) = talk();
    proxy.set(Mode::CutAfter(Direction::Answer, 3));
    say(&mut client, b"hello");
    assert_eq!(hear(&mut client, 3).unwrap(), b"hel");
    assert!(hear(&mut client, 1).is_err());
    assert!(proxy.has_happened_within(BOUND));
}

#[test]
fn a_lost_answer_ends_the_connection_and_the_next_one_is_whole() {
    let (proxy, mut client) = talk();
    proxy.set(Mode::Lose(Direction::Answer));
    say(&mut client, b"hello");
    assert!(hear(&mut client, 1).is_err());
    let mut next = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    say(&mut next, b"again");
    assert_eq!(hear(&mut next, 5).unwrap(), b"again");
}

#[test]
fn what_is_held_comes_when_it_is_over() {
    let (proxy, mut client) = talk();
    say(&mut client, b"one");
    assert_eq!(hear(&mut client, 3).unwrap(), b"one");
    proxy.set(Mode::Hold);
    say(&mut client, b"two");
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(hear(&mut client, 3).is_err());
    client.set_read_timeout(Some(BOUND)).unwrap();
    proxy.set(Mode::Pass);
    assert_eq!(hear(&mut client, 3).unwrap(), b"two");
}

#[test]
fn spoilt_bytes_are_no_message_of_anybody() {
    let (proxy, mut client) = talk();
    proxy.set(Mode::Garble(Direction::Request));
    say(&mut client, b"*1");
    assert_eq!(hear(&mut client, 2).unwrap(), [0xff, 0xff]);
}

#[test]
fn all_connections_are_cut_at_once() {
    let (proxy, mut client) = talk();
    say(&mut client, b"one");
    assert_eq!(hear(&mut client, 3).unwrap(), b"one");
    proxy.cut();
    assert!(hear(&mut client, 1).is_err());
}

#[test]
fn a_connection_that_has_ended_leaves_no_descriptor_behind() {
    let (proxy, mut first) = talk();
    say(&mut first, b"hello");
    assert_eq!(hear(&mut first, 5).unwrap(), b"hello");
    first.shutdown(Shutdown::Both).unwrap();
    let is_open =
        |proxy: &Proxy| lock(&proxy.shared.streams).iter().any(|stream| stream.strong_count() > 0);
    let until = std::time::Instant::now() + BOUND;
    while is_open(&proxy) {
        assert!(std::time::Instant::now() < until, "its sockets are still open");
        thread::yield_now();
    }
}

#[test]
fn a_request_is_executed_and_its_connection_cut_before_the_answer() {
    let (proxy, mut client) = talk();
    let mut other = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    proxy.cut_after("wanted");
    say(&mut client, b"wanted");
    assert!(hear(&mut client, 1).is_err());
    say(&mut other, b"wanted");
    assert_eq!(hear(&mut other, 6).unwrap(), b"wanted");
    assert_eq!(proxy.trapped(), 1);
}

#[test]
fn answers_are_swallowed_from_a_request_on() {
    let (proxy, mut client) = talk();
    proxy.set_after(|bytes| bytes.starts_with(b"two"), Mode::Swallow(Direction::Answer));
    say(&mut client, b"one");
    assert_eq!(hear(&mut client, 3).unwrap(), b"one");
    say(&mut client, b"two");
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(hear(&mut client, 1).is_err());
}

#[test]
fn connections_die_without_a_word_and_new_ones_live() {
    let (proxy, mut client) = talk();
    say(&mut client, b"one");
    assert_eq!(hear(&mut client, 3).unwrap(), b"one");
    proxy.kill_without_a_word();
    say(&mut client, b"two");
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let silence = hear(&mut client, 1).unwrap_err();
    assert_eq!(silence.kind(), io::ErrorKind::WouldBlock);
    let mut next = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    say(&mut next, b"new");
    assert_eq!(hear(&mut next, 3).unwrap(), b"new");
}

#[test]
fn a_refused_client_hears_the_end_of_the_connection() {
    let (proxy, _client) = talk();
    proxy.set(Mode::Refuse);
    let mut next = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    assert!(hear(&mut next, 1).is_err());
}
