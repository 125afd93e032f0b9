//! Two nodes of a cluster in the test's own runtime, and a clock that only the test moves.

use std::{
    pin::Pin,
    sync::{
        Mutex,
        atomic::AtomicBool,
        mpsc::{Sender, channel},
    },
    task::Poll,
};

use futures_util::poll;
use redis::Value;
use seinpaal_proto::Inbox;
use seinpaal_store::url::StoreUrl;
use tokio::{
    net::{TcpListener, TcpStream},
    task::yield_now,
    time::{advance, pause},
};

use super::super::super::{ClusterOptions, hash_slots::HashSlotMap};
use super::*;
use crate::keys::Keys;

/// A hash slot of each node.
pub(super) const SILENT: u16 = 0;
pub(super) const LIVE: u16 = 16_383;
/// By how much time moves at once, after everything that was sent has arrived.
const STEP: Duration = Duration::from_millis(50);
/// How often everything that can go on without time is given its turn, before time moves.
const TURNS: usize = 100;
/// When to give up a test.
const BOUND: Duration = Duration::from_secs(120);

pub(super) struct Scene {
    pub(super) links: Arc<ClusterLinks>,
    pub(super) live: NodeAddress,
    asked: Arc<Mutex<Vec<String>>>,
    is_mute: Arc<AtomicBool>,
    _silent: std::net::TcpListener,
    probe: [TcpStream; 2],
    /// While this is there, time does not move by itself.
    _clock: Sender<()>,
}

impl Scene {
    pub(super) async fn new() -> Self {
        let (clock, end) = channel();
        tokio::task::spawn_blocking(move || end.recv());
        pause();
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let live = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ports = [silent.local_addr().unwrap().port(), live.local_addr().unwrap().port()];
        let (asked, is_mute) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let node = LiveNode { hash_slots: hash_slots(ports), asked: Arc::clone(&asked), is_mute };
        let is_mute = node.is_mute.clone();
        tokio::spawn(serve(live, Arc::new(node)));
        let [_, live] = ports.map(|port| NodeAddress { host: "127.0.0.1".into(), port });
        let links = links(ports);
        Self { links, live, asked, is_mute, _silent: silent, probe: probe().await, _clock: clock }
    }

    /// From now on the live node answers nobody.
    pub(super) fn mute(&self) {
        self.is_mute.store(true, Ordering::SeqCst);
    }

    /// How often the live node was sent this command.
    pub(super) fn asked(&self, command: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == command).count()
    }

    /// How many channels that begin so are wanted and not heard.
    pub(super) fn deaf_of(&self, prefix: &str) -> usize {
        let deaf = self.links.ears.deaf(|hash_slot| self.links.map().owner(hash_slot).cloned());
        deaf.iter().filter(|(channel, _)| channel.starts_with(prefix)).count()
    }

    /// Moves time until `work` has ended or `is_done`. Returns how long that took.
    pub(super) async fn first_of<T>(
        &self,
        mut work: Pin<&mut impl Future<Output = T>>,
        is_done: impl Fn() -> bool,
    ) -> Duration {
        let began = Instant::now();
        while began.elapsed() < BOUND {
            self.wait_for_arrivals().await;
            for _ in 0..TURNS {
                if matches!(poll!(work.as_mut()), Poll::Ready(_)) || is_done() {
                    return began.elapsed();
                }
                yield_now().await;
            }
            advance(STEP).await;
        }
        panic!("no end after {BOUND:?}")
    }

    /// Waits until everything that was sent before has arrived: bytes on this machine arrive in
    /// order.
    async fn wait_for_arrivals(&self) {
        let [near, far] = &self.probe;
        near.writable().await.unwrap();
        assert_eq!(near.try_write(b"x").unwrap(), 1);
        while far.try_read(&mut [0]).is_err() {
            far.readable().await.unwrap();
        }
    }
}

async fn probe() -> [TcpStream; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = tokio::join!(near, listener.accept());
    let near = near.unwrap();
    near.set_nodelay(true).unwrap();
    [near, far.unwrap().0]
}

/// The answer to `CLUSTER SLOTS`: each node owns half of them.
fn hash_slots([silent, live]: [u16; 2]) -> String {
    let row = |first: u16, last: u16, port: u16| {
        format!("*3\r\n:{first}\r\n:{last}\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n")
    };
    format!("*2\r\n{}{}", row(SILENT, 8_191, silent), row(8_192, LIVE, live))
}

fn links(ports: [u16; 2]) -> Arc<ClusterLinks> {
    let url = format!("redis+cluster://127.0.0.1:{}", ports[1]);
    let Ok(StoreUrl::Cluster(url)) = StoreUrl::parse(&url) else { panic!("the URL of a cluster") };
    let keys = Keys::new("seinpaal:").unwrap();
    let (news, _) = tokio::sync::mpsc::unbounded_channel();
    let options = ClusterOptions { url, keys, inbox: Inbox(1), news, edit: None };
    let links = Arc::new_cyclic(|me| ClusterLinks::new(options, me.clone()));
    let of = NodeAddress { host: "127.0.0.1".into(), port: ports[0] };
    let map: Value = redis::parse_redis_value(hash_slots(ports).as_bytes()).unwrap();
    *links.map() = HashSlotMap::parse(&map, &of).unwrap();
    // This counts as the first look, so no node is examined.
    links.looks.store(1, Ordering::Relaxed);
    links
}

/// A node that takes every command, and keeps nothing.
struct LiveNode {
    hash_slots: String,
    asked: Arc<Mutex<Vec<String>>>,
    is_mute: Arc<AtomicBool>,
}

async fn serve(listener: TcpListener, node: Arc<LiveNode>) {
    while let Ok((socket, _)) = listener.accept().await {
        // Otherwise the kernel holds small answers back, by a clock that the test does not move.
        socket.set_nodelay(true).unwrap();
        tokio::spawn(answer(socket, Arc::clone(&node)));
    }
}

async fn answer(socket: TcpStream, node: Arc<LiveNode>) {
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while socket.readable().await.is_ok() {
        match socket.try_read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => text += std::str::from_utf8(&bytes[..count]).unwrap(),
            // It was a false alarm.
            Err(_) => continue,
        }
        while let Some(words) = take_command(&mut text) {
            let answer = node.answer(&words);
            assert_eq!(socket.try_write(answer.as_bytes()).unwrap_or(0), answer.len());
        }
    }
}

/// Takes the first command out of a text, if all of it is there.
fn take_command(text: &mut String) -> Option<Vec<String>> {
    let count: usize = text.strip_prefix('*')?.split_once("\r\n")?.0.parse().ok()?;
    let pieces: Vec<&str> = text.splitn(2 * count + 2, "\r\n").collect();
    let [_, words @ .., rest] = &pieces[..] else { return None };
    if words.len() < 2 * count {
        return None;
    }
    let words = words.iter().skip(1).step_by(2).map(|word| (*word).to_owned()).collect();
    *text = (*rest).to_owned();
    Some(words)
}

impl LiveNode {
    fn answer(&self, words: &[String]) -> String {
        self.asked.lock().unwrap().push(words[0].clone());
        if self.is_mute.load(Ordering::SeqCst) {
            return String::new();
        }
        match words[0].as_str() {
            "HELLO" => "%1\r\n$5\r\nproto\r\n:3\r\n".to_owned(),
            "TIME" => "*2\r\n$1\r\n1\r\n$1\r\n0\r\n".to_owned(),
            "CLUSTER" => self.hash_slots.clone(),
            "SSUBSCRIBE" | "SUNSUBSCRIBE" => {
                let (what, channel) = (words[0].to_lowercase(), &words[1]);
                let [long, wide] = [what.len(), channel.len()];
                format!(">3\r\n${long}\r\n{what}\r\n${wide}\r\n{channel}\r\n:1\r\n")
            }
            _ => "+OK\r\n".to_owned(),
        }
    }
}
