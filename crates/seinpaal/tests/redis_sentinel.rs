//! How the Redis store finds a master through sentinels, and the errors if it cannot.

#[path = "support/requests.rs"]
mod requests;

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU16, Ordering},
    },
    thread,
    time::Duration,
};

use redis::aio::MultiplexedConnection;
use requests::{Client, SECRET, acquire, is_granted, plain, refusal};
use seinpaal::store::StoreErrorKind::{self, Forbidden, Misconfigured, Unreachable};
use seinpaal_rig::{MASTER, SentinelServers};
use seinpaal_rig::{RedisServer, free_port};
use tokio::time::timeout;

/// How long a test waits for what must happen. No verdict depends on its length.
const BOUND: Duration = Duration::from_secs(30);

async fn is_refused(url: &str, kind: StoreErrorKind, advice: &str) {
    let error = refusal(url).await;
    assert_eq!(error.kind(), kind, "{url}: {error}");
    assert!(error.to_string().contains(advice), "{url}: {error}");
}

#[tokio::test]
async fn a_wrong_address_is_explained() {
    let servers = SentinelServers::shared();
    let (sentinel, server) = (servers.sentinel_ports()[0], servers.port(servers.master()));
    let at = |port, master| format!("redis+sentinel://127.0.0.1:{port}/{master}");
    is_refused(&at(sentinel, "nobody"), Misconfigured, "no master called \"nobody\"").await;
    is_refused(&at(server, MASTER), Misconfigured, "redis://HOST:PORT").await;
    is_refused(&at(free_port(), MASTER), Unreachable, "nothing listens there").await;
    let at_a_sentinel = format!("redis://127.0.0.1:{sentinel}");
    is_refused(&at_a_sentinel, Misconfigured, "redis+sentinel://HOST:PORT/MASTER").await;
    let nobody = format!("redis+sentinel://127.0.0.1:{},127.0.0.1:{}/m", free_port(), free_port());
    is_refused(&nobody, Unreachable, "none of the sentinels").await;
}

#[tokio::test]
async fn sentinels_and_servers_have_logins_of_their_own() {
    let servers = SentinelServers::start(0);
    let set = |port, rule: &str| ask(port, &format!("ACL SETUSER {rule}"));
    set(servers.port(0), &format!("worker on >{SECRET} ~* &* +@all"));
    set(servers.port(0), "default off");
    for port in servers.sentinel_ports() {
        set(port, &format!("asker on >{SECRET}2 ~* &* +@all"));
        set(port, "default off");
    }
    let hosts = hosts(&servers.sentinel_ports());
    let url = |login: &str, query: &str| format!("redis+sentinel://{login}{hosts}/{MASTER}{query}");
    let (login, wrong) = (format!("worker:{SECRET}@"), format!("worker:{SECRET}x@"));
    let query = format!("?sentinel-user=asker&sentinel-pass={SECRET}2");

    let client = Client::connect(&url(&login, &query), 1).await;
    assert!(is_granted(&client.acquire("n", 1).await));
    is_refused(&url(&login, ""), Forbidden, "sentinel-user").await;
    let wrong_query = format!("?sentinel-user=asker&sentinel-pass={SECRET}");
    is_refused(&url(&login, &wrong_query), Forbidden, "sentinel").await;
    is_refused(&url(&wrong, &query), Forbidden, "user or password is wrong").await;
    is_refused(&url("", &query), Forbidden, "").await;
}

#[tokio::test]
async fn among_sentinels_that_disagree_the_latest_configuration_wins() {
    let server = RedisServer::start();
    let port = server.port();
    let (late, early) = (sentinel_that_says(free_port(), 5), sentinel_that_says(port, 7));
    for (one, two) in [(late, early), (early, late)] {
        let url = format!("redis+sentinel://127.0.0.1:{one},127.0.0.1:{two}/m");
        assert!(is_granted(&Client::connect(&url, 1).await.acquire(&format!("{one}"), 1).await));
    }
}

#[tokio::test]
async fn a_sentinel_that_says_nothing_holds_up_nobody_for_long() {
    let server = RedisServer::start();
    let port = server.port();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, honest) = (silent.local_addr().unwrap().port(), sentinel_that_says(port, 1));
    let url = format!("redis+sentinel://127.0.0.1:{silent},127.0.0.1:{honest}/m");
    assert!(is_granted(&Client::connect(&url, 1).await.acquire("n", 1).await));
}

#[tokio::test]
async fn a_replica_is_never_taken_for_the_master() {
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", "1"]);
    let port = replica.port();
    let sentinel = sentinel_that_says(port, 1);
    let url = format!("redis+sentinel://127.0.0.1:{sentinel}/m");
    is_refused(&url, Unreachable, "is a replica").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_moves_while_the_old_one_hangs_is_followed_at_once() {
    let server = RedisServer::start();
    let port = server.port();
    let (dead, hangs) = (RedisServer::start(), TcpListener::bind("127.0.0.1:0").unwrap());
    let sentinel = Sentinel::that_says(dead.port(), 1);
    let url = format!("redis+sentinel://127.0.0.1:{}/m?connect-timeout=1h", sentinel.port);
    let client = Client::connect(&url, 1).await;
    sentinel.until_somebody_listens();
    sentinel.says(hangs.local_addr().unwrap().port());
    drop(dead);
    let _link = hangs.accept().unwrap(); // it takes connections and answers nothing
    sentinel.says(port);
    sentinel.tells_of_the_move();
    assert!(is_granted_in_time(&client).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_begins_to_listen_notices_an_unannounced_move() {
    let (old, new) = (RedisServer::start(), RedisServer::start());
    let sentinel = Sentinel::that_says(old.port(), 1);
    sentinel.once_asked_says(new.port());
    let client = Client::connect(&sentinel.url(), 1).await;
    let is_there = async {
        let mut to_new = plain(&new.url("")).await;
        while !is_subscribed(&mut to_new).await {
            tokio::task::yield_now().await;
        }
    };
    timeout(BOUND, is_there).await.expect("it follows");
    assert!(is_granted_in_time(&client).await);
}

/// Until a call is answered: those that found no server are made again.
async fn is_granted_in_time(client: &Client) -> bool {
    let asking = async {
        loop {
            if let Ok(reply) = client.ask("n", acquire(1)).await {
                return is_granted(&reply);
            }
        }
    };
    timeout(BOUND, asking).await.expect("an answer")
}

async fn is_subscribed(server: &mut MultiplexedConnection) -> bool {
    let channels: Vec<String> =
        redis::cmd("PUBSUB").arg("CHANNELS").query_async(server).await.unwrap();
    !channels.is_empty()
}

/// Plays a sentinel that has the master at this port, since that epoch.
fn sentinel_that_says(port: u16, epoch: u64) -> u16 {
    Sentinel::that_says(port, epoch).port
}

/// One that is played.
struct Sentinel {
    port: u16,
    says: Arc<Says>,
}

/// The answers of the sentinel, and its listeners.
struct Says {
    master: AtomicU16,
    next: AtomicU16,
    epoch: u64,
    listeners: Mutex<Vec<TcpStream>>,
    is_heard: Condvar,
}

impl Sentinel {
    fn that_says(master: u16, epoch: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (master, next) = (AtomicU16::new(master), AtomicU16::new(master));
        let (listeners, is_heard) = (Mutex::default(), Condvar::new());
        let says = Arc::new(Says { master, next, epoch, listeners, is_heard });
        let answers = Arc::clone(&says);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let says = Arc::clone(&answers);
                thread::spawn(move || says.answer(stream));
            }
        });
        Self { port, says }
    }

    fn url(&self) -> String {
        format!("redis+sentinel://127.0.0.1:{}/m", self.port)
    }

    fn says(&self, master: u16) {
        self.says.master.store(master, Ordering::SeqCst);
        self.says.next.store(master, Ordering::SeqCst);
    }

    /// After one answer the master has moved, and nobody is told.
    fn once_asked_says(&self, next: u16) {
        self.says.next.store(next, Ordering::SeqCst);
    }

    fn until_somebody_listens(&self) {
        let listeners = self.says.listeners.lock().unwrap();
        drop(self.says.is_heard.wait_while(listeners, |all| all.is_empty()).unwrap());
    }

    fn tells_of_the_move(&self) {
        let master = self.says.master.load(Ordering::SeqCst).to_string();
        let text = format!("m 127.0.0.1 1 127.0.0.1 {master}");
        let parts = ["message", "+switch-master", &text].map(str::to_owned);
        for mut listener in self.says.listeners.lock().unwrap().iter() {
            listener.write_all(list(&parts).as_bytes()).unwrap();
        }
    }
}

impl Says {
    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some(words) = command(&mut reader) {
            let answer = self.answer_to(&words.join(" ").to_ascii_uppercase());
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
            if words[0].eq_ignore_ascii_case("SUBSCRIBE") {
                self.listeners.lock().unwrap().push(stream.try_clone().unwrap());
                self.is_heard.notify_all();
            }
        }
    }

    fn answer_to(&self, words: &str) -> String {
        match words {
            _ if words.starts_with("SENTINEL GET") => {
                let next = self.next.load(Ordering::SeqCst);
                let master = self.master.swap(next, Ordering::SeqCst);
                list(&["127.0.0.1".to_owned(), master.to_string()])
            }
            _ if words.starts_with("SENTINEL MASTER") => {
                list(&["config-epoch".to_owned(), self.epoch.to_string()])
            }
            _ if words.starts_with("SUBSCRIBE") => {
                "*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n".to_owned()
            }
            _ => "+OK\r\n".to_owned(),
        }
    }
}

fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let count = line()?.strip_prefix('*')?.parse().ok()?;
    (0..count).map(|_| line().and_then(|_| line())).collect()
}

fn list(items: &[String]) -> String {
    let count = items.len();
    let items = items.iter().map(|item| format!("${}\r\n{item}\r\n", item.len()));
    format!("*{count}\r\n{}", items.collect::<String>())
}

fn ask(port: u16, question: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(format!("{question}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    assert_eq!(answer, "+OK\r\n", "{question}");
}

fn hosts(ports: &[u16]) -> String {
    ports.iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(",")
}
