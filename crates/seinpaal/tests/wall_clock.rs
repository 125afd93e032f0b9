//! Clients whose wall clock is an hour off, in either direction. No client notices a difference.
//!
//! The clients are this program again, with the library of `faketime`. They report their clock to
//! the parent, so that a `faketime` without effect is noticed.

use std::{
    env,
    io::{BufRead, BufReader, Write, stdin, stdout},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use seinpaal::{Permit, Seinpaal, Semaphore, Snapshot};
use seinpaal_rig::{Clocks, RedisServer};

const URL: &str = "SEINPAAL_TEST_URL";
const HOUR: i64 = 3_600;
const TTL: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_client_whose_clock_is_an_hour_off_robs_nobody_and_is_not_robbed() {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.unwrap();
    let semaphore = seinpaal.semaphore("clocks").limit(1);
    let permit = semaphore.acquire().await.unwrap();
    let mut ahead = Client::start(&server.socket_url(""), HOUR);
    let mut behind = Client::start(&server.socket_url(""), -HOUR);
    assert_eq!(ahead.order("acquire"), "queued");
    assert_eq!(behind.order("acquire"), "queued");
    let snapshot = assert_nobody_gets_in(&semaphore).await;
    let waiters: Vec<u32> = snapshot.waiters.iter().map(|waiter| waiter.about.pid).collect();
    assert_eq!(waiters, [ahead.pid(), behind.pid()], "in order of arrival");
    assert!(snapshot.waiters.iter().all(|waiter| waiter.waiting_for < TTL * 20), "{snapshot:?}");
    assert!(permit.is_held());

    let mut fences = vec![permit.fence().0];
    permit.release().await.unwrap();
    for client in [&mut ahead, &mut behind] {
        fences.push(client.granted());
        let snapshot = assert_nobody_gets_in(&semaphore).await;
        assert_eq!(snapshot.holders[0].about.pid, client.pid());
        assert_eq!(client.order("release"), "released");
    }
    fences.push(semaphore.acquire().await.unwrap().fence().0);
    assert!(fences.is_sorted_by(|earlier, later| earlier < later), "{fences:?}");
}

/// Checks that the holder has a lease of the length that it asked for, and that newcomers are
/// refused.
async fn assert_nobody_gets_in(semaphore: &Semaphore) -> Snapshot {
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    let snapshot = semaphore.snapshot().await.unwrap();
    assert_eq!(snapshot.permits_held, 1, "{snapshot:?}");
    let left = snapshot.holders[0].valid_for.expect("leases on Redis end");
    assert!(left > Duration::ZERO && left <= TTL, "{snapshot:?}");
    snapshot
}

/// The client's side. It does nothing unless this process was started as a client.
#[tokio::test]
async fn a_client_process() {
    let Ok(url) = env::var(URL) else { return };
    say(&format!("clock {}", clock()));
    let seinpaal = Seinpaal::connect(&url).await.unwrap();
    let semaphore = seinpaal.semaphore("clocks").limit(1);
    assert_eq!(next_order(), "acquire");
    let permit = semaphore.acquire().on_queued(|_| say("queued")).await.unwrap();
    assert!(is_whole(&permit), "{permit:?}");
    say(&format!("granted {}", permit.fence()));
    assert_eq!(next_order(), "release");
    assert!(is_whole(&permit), "{permit:?}");
    permit.release().await.unwrap();
    say("released");
}

fn is_whole(permit: &Permit) -> bool {
    permit.is_held() && permit.remaining().is_some_and(|left| left <= TTL)
}

fn say(what: &str) {
    println!("> {what}");
    stdout().flush().unwrap();
}

fn next_order() -> String {
    let mut order = String::new();
    stdin().lock().read_line(&mut order).unwrap();
    order.trim_end().to_owned()
}

/// Seconds since 1970, by this process's wall clock.
fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_secs().try_into().unwrap()
}

/// Each client has a clock of its own.
const WHOSE: &str = "client";

struct Client {
    process: Child,
    _clocks: Clocks,
    orders: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Client {
    /// Starts a client whose clock is off by so many seconds.
    fn start(url: &str, off: i64) -> Self {
        let clocks = Clocks::new().unwrap();
        assert!(clocks.can_be_set(), "faketime is missing: run ./test, which installs it");
        clocks.set(WHOSE, off);
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "a_client_process", "--nocapture"])
            .env(URL, url)
            .envs(clocks.environment(WHOSE))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = process.stdin.take().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        let mut client = Self { process, _clocks: clocks, orders, lines };
        let said = client.line();
        let shown: i64 = said.strip_prefix("clock ").expect(&said).parse().unwrap();
        assert!((shown - clock() - off).abs() < 600, "faketime does nothing: {said}");
        client
    }

    fn pid(&self) -> u32 {
        self.process.id()
    }

    fn order(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").unwrap();
        self.line()
    }

    /// Waits until the client holds, and returns its fence.
    fn granted(&mut self) -> u64 {
        let said = self.line();
        said.strip_prefix("granted ").expect(&said).parse().unwrap()
    }

    /// The client's next line. The test harness may print about itself earlier in the line.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            let length = self.lines.read_line(&mut line).unwrap();
            assert!(length > 0, "the client ended");
            if let Some((_, said)) = line.split_once("> ") {
                return said.trim_end().to_owned();
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
