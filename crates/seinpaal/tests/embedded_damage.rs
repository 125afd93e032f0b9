//! The embedded store over damaged files. It reports the damage or goes on, and never hangs.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{fs, future::IntoFuture, path::Path, sync::Arc, time::Duration};

use fastrand::Rng;
use processes::{
    client::{acquire, ask, ticket},
    queue::{Hand, push},
    unique,
};
use seinpaal::{
    AcquireError, Seinpaal,
    store::{Store, StoreError, StoreErrorKind, embedded::EmbeddedStore},
};
use seinpaal_proto::{Configure, Head, Inbox, Request, State, queue};
use seinpaal_store::packed;
use tokio::{
    sync::{mpsc::unbounded_channel, oneshot},
    time::timeout,
};

/// How many files are damaged, each in a way of its own.
const FILES: u64 = 40;

#[test]
fn a_client_process() {
    processes::client::run();
}

fn open(dir: &Path) -> Result<(Arc<EmbeddedStore>, Inbox), StoreError> {
    let (inbox, (news, _)) = (Inbox(unique()), unbounded_channel());
    Ok((EmbeddedStore::open(dir, inbox, news)?, inbox))
}

/// A database and its log.
type Files = Vec<(String, Vec<u8>)>;

/// The files while clients hold, wait and have left, and the files after everything was written
/// back.
async fn files() -> [Files; 2] {
    let dir = tempfile::tempdir().unwrap();
    let (store, me) = open(dir.path()).unwrap();
    for ticket in 1..12 {
        ask(&store, me, "n", acquire(ticket, 4, true)).await.unwrap();
        ask(&store, me, "p", acquire(ticket, 4, true)).await.unwrap();
    }
    fill(&store, me, "n", 4).await;
    for ticket in [2, 11].map(ticket) {
        let release = Request::Release { ticket, slots: None };
        ask(&store, me, "n", release).await.unwrap();
    }
    ask(&store, me, "o", Request::Configure(Configure::Pause("why".into()))).await.unwrap();
    let mut hand = Hand::new(Arc::clone(&store), me);
    for n in 0..20_usize {
        hand.ask("q", queue::Request::Push(push(vec![b'x'; n * 100]))).await;
    }
    hand.pop("q", 5).await;
    let read = |name: &str| (name.to_owned(), fs::read(dir.path().join(name)).unwrap());
    let as_they_are = ["seinpaal.db", "seinpaal.db-wal"].map(read).into();
    damage_rows(dir.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    [as_they_are, vec![read("seinpaal.db")]]
}

/// Adds so many tickets that the name does not fit into one record.
async fn fill(store: &Arc<EmbeddedStore>, me: Inbox, name: &str, limit: u32) {
    for ticket in 100..180 {
        ask(store, me, name, acquire(ticket, limit, true)).await.unwrap();
    }
}

/// Changes up to 64 bytes in each file. One log of four is lost.
fn damage(dir: &Path, files: &Files, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let kept = if rng.u64(..4) == 0 { 1 } else { 2 };
    for (name, bytes) in files.iter().take(kept) {
        let mut bytes = bytes.clone();
        for _ in 0..rng.u64(1..=64) {
            let at = rng.usize(..bytes.len());
            bytes[at] ^= rng.u8(..) | 1;
        }
        fs::write(dir.join(name), bytes).unwrap();
    }
}

async fn use_it(dir: &Path) -> Result<(), StoreError> {
    let (store, me) = open(dir)?;
    ask(&store, me, "n", Request::Inspect { rows: 64 }).await?;
    ask(&store, me, "n", acquire(50, 4, true)).await?;
    ask(&store, me, "n", Request::Evict { ticket: ticket(3) }).await?;
    ask(&store, me, "o", Request::Configure(Configure::Resume)).await?;
    ask(&store, me, "p", acquire(50, 4, true)).await?;
    let mut hand = Hand::new(Arc::clone(&store), me);
    hand.send("q", vec![queue::Request::Inspect { rows: 64 }]).await?;
    hand.send("q", vec![queue::Request::Push(push("x"))]).await?;
    hand.send("q", vec![queue::Request::Purge(queue::Purge::Waiting)]).await?;
    store.list_queues("").await?;
    store.list("").await.map(drop)
}

/// Changes rows in a way that no ledger does.
fn damage_rows(dir: &Path, sql: &str) {
    rusqlite::Connection::open(dir.join("seinpaal.db")).unwrap().execute_batch(sql).unwrap();
}

fn assert_is_damage(error: AcquireError) {
    let AcquireError::Store(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
}

#[tokio::test]
async fn clients_that_ask_or_wait_are_told_of_damage() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file://{}", dir.path().display());
    let [holder, waiter] =
        [Seinpaal::connect(&url).await.unwrap(), Seinpaal::connect(&url).await.unwrap()];
    let held = holder.semaphore("n").acquire().ttl(Duration::from_millis(500)).await.unwrap();
    let (tell, queued) = oneshot::channel();
    let queue = waiter.semaphore("n").acquire().on_queued(move |_| tell.send(()).unwrap());
    let waiting = tokio::spawn(queue.into_future());
    queued.await.unwrap();
    damage_rows(dir.path(), "UPDATE small SET state = x'0123456789'");
    let outcome = timeout(Duration::from_secs(30), waiting).await.expect("it waits for ever");
    assert_is_damage(outcome.unwrap().unwrap_err());
    assert_is_damage(waiter.semaphore("n").acquire().await.unwrap_err());
    assert_is_damage(waiter.semaphore("n").try_acquire().await.unwrap_err());
    assert!(held.release().await.is_err(), "nobody can confirm it");
}

#[tokio::test]
async fn a_constraint_that_only_damage_can_break_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let (store, me) = open(dir.path()).unwrap();
    ask(&store, me, "n", acquire(1, 2, true)).await.unwrap();
    ask(&store, me, "n", acquire(2, 2, true)).await.unwrap();
    fill(&store, me, "n", 2).await;
    damage_rows(dir.path(), "INSERT INTO free SELECT id, 0, 0 FROM name");
    let release = Request::Release { ticket: ticket(1), slots: None };
    let error = ask(&store, me, "n", release).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_an_error_in_one_line_and_no_call_hangs() {
    let files = files().await;
    let mut refused = 0;
    for seed in 0..FILES {
        let dir = tempfile::tempdir().unwrap();
        damage(dir.path(), &files[seed as usize % 2], seed);
        let outcome = timeout(Duration::from_secs(30), use_it(dir.path())).await;
        if let Err(error) = outcome.unwrap_or_else(|_| panic!("seed {seed} hangs")) {
            assert_ne!(error.kind(), StoreErrorKind::Internal, "seed {seed}: {error}");
            assert!(!error.to_string().contains(char::is_control), "seed {seed}: {error}");
            refused += 1;
        }
    }
    assert!(refused >= FILES / 4, "damage was noticed in {refused} of {FILES} files");
}

/// The length of a record's checksum.
const SUM: usize = 8;

/// A small name is one record with a checksum. So a record that contradicts itself gets a correct
/// checksum here.
fn plant_in_small(dir: &Path, name: &str) {
    let db = rusqlite::Connection::open(dir.join("seinpaal.db")).unwrap();
    let sql = "SELECT state FROM small WHERE name = ?1";
    let record: Vec<u8> = db.query_row(sql, [name], |row| row.get(0)).unwrap();
    let listed = 16 * usize::from(record[SUM]);
    let (kept, packed) = record.split_at(SUM + 1 + listed);
    let mut state = packed::unpack(packed).unwrap();
    let Ok(head) = state.head();
    let Ok(()) = state.set_head(&Head { held: head.held + 1, ..head });
    let mut rest = kept[SUM..].to_vec();
    rest.extend(packed::pack(&mut state));
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = rest.iter().fold(0xcbf2_9ce4_8422_2325, mix).to_be_bytes();
    let planted = [&sum[..], &rest].concat();
    db.execute("UPDATE small SET state = ?2 WHERE name = ?1", (name, planted)).unwrap();
}

#[tokio::test]
async fn ledgers_that_contradict_themselves_are_found_and_whole_ones_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let (store, me) = open(dir.path()).unwrap();
    for name in ["good", "small", "large", "rows"] {
        ask(&store, me, name, acquire(1, 2, true)).await.unwrap();
    }
    for name in ["large", "rows"] {
        fill(&store, me, name, 2).await;
    }
    let mut hand = Hand::new(Arc::clone(&store), me);
    for _ in 0..3 {
        hand.ask("q", queue::Request::Push(push("x"))).await;
    }
    hand.pop("q", 2).await;
    let seen = store.examine(100).await.unwrap();
    assert_eq!((seen.names, seen.queues, seen.is_clean()), (4, 1, true), "{seen:?}");
    plant_in_small(dir.path(), "small");
    damage_rows(dir.path(), "UPDATE name SET held = held + 1 WHERE name = 'large'");
    damage_rows(
        dir.path(),
        "DELETE FROM entry WHERE rank IS NOT NULL AND name = (SELECT id FROM name WHERE name = 'rows')",
    );
    damage_rows(dir.path(), "UPDATE queue SET in_work = in_work + 1");
    let seen = store.examine(100).await.unwrap();
    let found: Vec<_> = seen.contradictions.iter().map(ToString::to_string).collect();
    for (what, words) in [
        ("the name small: ", "permits held"),
        ("the name large: ", "permits held"),
        ("the name rows: ", ""),
        ("the queue q: ", "in work"),
    ] {
        let is_it = |text: &&String| text.starts_with(what) && text.contains(words);
        assert!(found.iter().any(|text| is_it(&text)), "{what}: {found:?}");
    }
    assert!(!found.iter().any(|text| text.contains("good")), "{found:?}");
    assert!(found.iter().all(|text| !text.contains(char::is_control)), "{found:?}");
    let cut = store.examine(2).await.unwrap();
    assert_eq!((cut.names + cut.queues, cut.is_cut), (2, true));
    remove_as_the_guide_says(dir.path(), "large");
    remove_as_the_guide_says(dir.path(), "small");
    for name in ["large", "small"] {
        ask(&store, me, name, acquire(500, 2, true)).await.unwrap();
    }
    let seen = store.examine(100).await.unwrap();
    assert_eq!(seen.contradictions.len(), found.len() - 2, "{seen:?}");
}

/// The lines that docs/guide/operating.md has for a name in disorder.
fn remove_as_the_guide_says(dir: &Path, name: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/operating.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, lines) = page.split_once("```sql\n").expect("the lines are there");
    let lines = lines.split("```").next().unwrap_or_default();
    damage_rows(dir, &lines.replace("'NAME'", &format!("'{name}'")));
}
