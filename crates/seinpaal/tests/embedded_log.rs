//! The log of the embedded store is written back beside the calls, and no call stands at the gate
//! meanwhile.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{Arc, mpsc},
    time::Duration,
};

use processes::{
    client::{acquire, ask},
    unique,
};
use rustix::fs::{FlockOperation, flock};
use seinpaal::store::embedded::{EmbeddedStore, OpenOptions};
use seinpaal_proto::{Inbox, Reply, Request, Series};
use tokio::{
    sync::mpsc::unbounded_channel,
    time::{sleep, timeout},
};

/// A page of the log, with its header.
const PAGE: u64 = 4096 + 24;
/// The length, in pages, at which writers wait for the log to be written back, and the pages that
/// they may have appended before they noticed.
const MOST_PAGES: u64 = 8192 + 512;

#[test]
fn a_client_process() {
    processes::client::run();
}

struct Client {
    store: Arc<EmbeddedStore>,
    inbox: Inbox,
}

impl Client {
    fn open(dir: &Path) -> Self {
        let (inbox, (news, _)) = (Inbox(unique()), unbounded_channel());
        Self { store: EmbeddedStore::open(dir, inbox, news).unwrap(), inbox }
    }

    fn open_with_disk(dir: &Path, disk: impl FnMut() -> io::Result<()> + Send + 'static) -> Self {
        let (inbox, (news, _)) = (Inbox(unique()), unbounded_channel());
        Self {
            store: EmbeddedStore::open_with(dir, OpenOptions::with_disk(disk), inbox, news)
                .unwrap(),
            inbox,
        }
    }

    /// Takes a permit and gives it back. All such tickets are of one series.
    async fn pair(&self, name: &str, number: u32) {
        let ticket = Series(9 << 64).ticket(number);
        let granted = ask(&self.store, self.inbox, name, acquire(ticket.0, 90, false)).await;
        assert!(matches!(granted.unwrap(), Reply::Granted(_)));
        let release = Request::Release { ticket, slots: None };
        ask(&self.store, self.inbox, name, release).await.unwrap();
    }
}

/// Returns whether the gate can be had within five seconds.
async fn is_free(gate: &File) -> bool {
    for _ in 0..5000 {
        if flock(gate, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return flock(gate, FlockOperation::Unlock).is_ok();
        }
        sleep(Duration::from_millis(1)).await;
    }
    false
}

#[tokio::test]
async fn while_the_log_is_written_back_nobody_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (begun, begins) = mpsc::channel();
    let (_never, hangs) = mpsc::channel::<()>();
    let disk = move || {
        begun.send(()).unwrap();
        hangs.recv().map_err(io::Error::other)
    };
    let a = Client::open_with_disk(dir.path(), disk);
    let b = Client::open_with_disk(dir.path(), || Ok(()));
    let gate = File::open(dir.path().join("gate")).unwrap();
    let database = dir.path().join("seinpaal.db");
    a.pair("n", 1).await;
    let before = fs::metadata(&database).unwrap().modified().unwrap();
    let mut ticket = 1;
    while begins.try_recv().is_err() {
        ticket += 1;
        a.pair("n", ticket).await;
    }
    for more in 1..100 {
        let calls = async {
            a.pair("n", ticket + more).await;
            b.pair("m", more).await;
        };
        timeout(Duration::from_secs(5), calls).await.expect("a call waits for the disk");
        assert!(is_free(&gate).await, "somebody stands inside");
    }
    assert!(
        before == fs::metadata(&database).unwrap().modified().unwrap(),
        "a call has written the log back"
    );
}

#[tokio::test]
async fn a_call_about_a_small_name_writes_one_page_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open_with_disk(dir.path(), || Ok(()));
    let pages = || fs::metadata(dir.path().join("seinpaal.db-wal")).unwrap().len() / PAGE;
    client.pair("n", 1).await;
    sleep(Duration::from_secs(1)).await; // until the store has tidied up
    let before = pages();
    for ticket in 2..102 {
        client.pair("n", ticket).await;
    }
    assert!(pages() - before <= 204, "{} pages for 200 calls", pages() - before);
}

#[tokio::test]
async fn a_log_that_calls_keep_writing_to_is_written_back_and_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let client = Client::open(dir.path());
    for ticket in 1..=80 {
        let reply = ask(&client.store, client.inbox, "n", acquire(ticket, 90, false)).await;
        assert!(matches!(reply.unwrap(), Reply::Granted(_)));
    }
    let database = dir.path().join("seinpaal.db");
    let before = fs::metadata(&database).unwrap().modified().unwrap();
    let mut longest = 0;
    for ticket in 100..1300 {
        client.pair("n", ticket).await;
        longest = longest.max(fs::metadata(dir.path().join("seinpaal.db-wal")).unwrap().len());
    }
    assert!(longest < MOST_PAGES * PAGE, "the log has {longest} bytes");
    assert!(
        before != fs::metadata(&database).unwrap().modified().unwrap(),
        "it was never written back"
    );
}

/// A client's first push opens the log.
#[test]
fn a_push_while_no_file_can_be_opened_is_not_confirmed_and_the_next_one_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut producer = processes::Client::start(dir.path());
    assert_eq!(producer.order("most-files 3"), "allowed");
    let said = producer.order("push q a");
    assert!(said.starts_with("Unreachable ") && said.ends_with("try again"), "{said}");
    assert_eq!(producer.order("most-files 1000"), "allowed");
    assert_eq!(producer.order("push q b"), "pushed");
}
