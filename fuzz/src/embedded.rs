//! Data of the embedded store that others may have written: datagrams, and rows of a damaged file.

mod permits;
mod queues;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::{Connection, params_from_iter, types::Value};
use seinpaal_proto::{Batch, Contact, Contacts, Inbox, Name, Request, execute, time::SECOND};

use seinpaal_embedded::{
    list,
    rows::{Rows, head_columns},
    tables, trouble,
    wire::{Message, decode, encode_queue_wakeups, encode_wakeups, encode_watch},
};
use seinpaal_store::{Certainty, StoreErrorKind};

use crate::must_be_one_line;

/// The most calls that work may take that comes to an end. Each call handles 128 ends.
const MOST_CALLS: usize = 16;
const NOW: u64 = 1_800_000_000 * SECOND;

/// Decodes a datagram. If it can be decoded, it encodes to the same bytes.
pub(crate) fn datagram(bytes: &[u8]) {
    match decode(Inbox(9), bytes) {
        Some(Message::Wakeups(wakeups)) => {
            let Some(first) = wakeups.first() else { return };
            let again = encode_wakeups(&first.name, &wakeups.iter().collect::<Vec<_>>());
            let again = decode(Inbox(9), &again);
            // Slots may be written in more bytes than they came in, and then do not fit.
            assert!(
                matches!(again, Some(Message::LookAgain))
                    || again == Some(Message::Wakeups(wakeups))
            );
        }
        Some(Message::Queue(wakeups)) => {
            let Some(first) = wakeups.first() else { return };
            let again = encode_queue_wakeups(&first.name, &wakeups.iter().collect::<Vec<_>>());
            assert_eq!(decode(Inbox(9), &again), Some(Message::Queue(wakeups)));
        }
        Some(Message::Watch(line_of)) => {
            assert_eq!(decode(Inbox(9), &encode_watch(&line_of)), Some(Message::Watch(line_of)));
        }
        Some(Message::LookAgain | Message::Accept) | None => {}
    }
}

/// Uses a database whose bytes were changed. Three bytes of input give the place of a change, and
/// one gives the change.
pub(crate) fn damaged_file(bytes: &[u8]) {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let mut file = whole_file().clone();
    for change in bytes.as_chunks::<4>().0 {
        let at = u32::from_be_bytes([0, change[0], change[1], change[2]]) as usize % file.len();
        file[at] ^= change[3];
    }
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("seinpaal-fuzz-{}-{run}", std::process::id()));
    fs::write(&path, file).expect("the temporary folder can be written");
    let outcome = Connection::open(&path).and_then(|db| {
        db.execute_batch("PRAGMA synchronous = OFF")?; // nobody needs it after a crash
        use_it(&db)
    });
    for end in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(format!("{}{end}", path.display()));
    }
    judge(&path, outcome);
}

/// Uses rows with any values. Eight bytes of input choose a cell and its value.
pub(crate) fn damaged_rows(bytes: &[u8]) {
    thread_local! {
        static WHOLE: rusqlite::Result<Connection> = whole(fill);
    }
    WHOLE.with(|db| over_damage(db.as_ref().expect("the seeds are sound"), &CELLS, bytes, use_it));
}

/// Uses rows of a queue, as [`damaged_rows`] does.
pub(crate) fn damaged_queue_rows(bytes: &[u8]) {
    thread_local! {
        static WHOLE: rusqlite::Result<Connection> = whole(queues::fill);
    }
    WHOLE.with(|db| {
        let db = db.as_ref().expect("the seeds are sound");
        over_damage(db, &queues::CELLS, bytes, queues::use_it);
    });
}

fn whole(fill: fn(&Connection) -> rusqlite::Result<()>) -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    fill(&db)?;
    Ok(db)
}

fn over_damage(
    db: &Connection,
    cells: &[Cells],
    bytes: &[u8],
    use_it: fn(&Connection) -> rusqlite::Result<()>,
) {
    // The changes of each run are rolled back. If a run panicked, that happens here.
    let _ = db.execute_batch("ROLLBACK");
    db.execute_batch("BEGIN").expect("there is no transaction");
    for change in bytes.as_chunks::<8>().0 {
        let _ = spoil(db, cells, *change);
    }
    judge(Path::new("x"), use_it(db));
    let _ = db.execute_batch("ROLLBACK");
}

/// Checks that every failure has a kind and says in one line what to do.
fn judge(path: &Path, outcome: rusqlite::Result<()>) {
    if let Err(error) = outcome {
        let error = trouble::sql(path, Certainty::NotExecuted, error);
        must_be_one_line(&error);
        assert_ne!(error.kind(), StoreErrorKind::Internal);
    }
}

/// A table and its columns, except those of a head.
type Cells = (&'static str, &'static [&'static str]);

const CELLS: [Cells; 5] = [
    ("name", &["name"]),
    ("lease", &["id", "inbox", "ttl", "ends", "ends_wall", "members", "digest", "parked"]),
    (
        "entry",
        &[
            "ticket",
            "lease",
            "inbox",
            "permits",
            "ttl",
            "since",
            "about",
            "fence",
            "slots",
            "rank",
            "priority",
            "next_lease",
            "margin",
            "parked",
        ],
    ),
    ("memory", &["series", "last", "until", "open", "ends"]),
    ("free", &["first", "last"]),
];

/// Writes a value into a column of some rows, or removes the rows.
fn spoil(db: &Connection, cells: &[Cells], change: [u8; 8]) -> rusqlite::Result<usize> {
    let [table, column, which, kind, number @ ..] = change;
    let (table, columns) = cells[usize::from(table) % cells.len()];
    let columns = [columns, &head_columns(table)].concat();
    let column = columns[usize::from(column) % columns.len()];
    let number = i64::from(i32::from_be_bytes(number));
    // Some changes reach no row.
    let rows = "WHERE (SELECT count(*) FROM name) + (SELECT count(*) FROM queue) + ?1 % 2 > 0";
    let which = i64::from(which);
    if kind % 16 == 15 {
        return db.execute(&format!("DELETE FROM {table} {rows}"), [which]);
    }
    let value = match kind % 16 {
        0..=3 => Value::Integer(number),
        4 => Value::Integer(i64::MAX - number.abs()),
        5 => Value::Integer(i64::MIN + number.abs()),
        6 => Value::Integer(i64::from(u32::MAX) - number.abs() % 8),
        7 => Value::Null,
        8 => Value::Text(format!("{}-{}", number.abs() % 9, u32::MAX)),
        9 => Value::Text("7,5-6,1".into()),
        10 => Value::Blob(vec![number as u8; 16]),
        11 => Value::Blob(number.to_be_bytes().to_vec()),
        12 => Value::Real(number as f64),
        13 => Value::Integer((NOW as i64).saturating_add(number)),
        _ => Value::Integer(number << 22),
    };
    let sql = format!("UPDATE OR REPLACE {table} SET {column} = ?2 {rows}");
    db.execute(&sql, params_from_iter([Value::Integer(which), value]))
}

/// Returns a file with holders, waiters, ended tickets and free slots in it.
fn whole_file() -> &'static Vec<u8> {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let path: PathBuf =
            std::env::temp_dir().join(format!("seinpaal-fuzz-{}-whole", std::process::id()));
        let db = Connection::open(&path).expect("the temporary folder can be written");
        fill(&db).expect("the seeds are sound");
        drop(db);
        let bytes = fs::read(&path).expect("it was written just now");
        let _ = fs::remove_file(&path);
        bytes
    })
}

fn fill(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&tables::schema())?;
    let mut asked = permits::filling().into_iter();
    asked.try_for_each(|(after, requests)| call(db, after, requests))
}

/// Makes all the requests of an ordinary day: asking, renewing, leaving, looking, steering, and the
/// ends of leases.
fn use_it(db: &Connection) -> rusqlite::Result<()> {
    let mut asked = permits::day().into_iter();
    asked.try_for_each(|(after, requests)| call(db, after, requests))?;
    list::names(db, "")?;
    let name = a_name();
    let rows = Rows::open(db, &name)?;
    rows.first_waiting(8)?;
    rows.holding(None, 8)?;
    for later in [20, 31, 50, 90, 300] {
        call(db, later, Vec::new())?;
    }
    Ok(())
}

fn call(db: &Connection, after: u64, requests: Vec<Request>) -> rusqlite::Result<()> {
    let batch = Batch { name: a_name(), inbox: Some(Inbox(1)), fence_seen: 0, requests };
    for _ in 0..MOST_CALLS {
        let mut rows = Rows::open(db, &batch.name)?;
        if !execute(&mut rows, &mut ThreeKindsOfContact, NOW + after * SECOND, &batch)?
            .replies
            .backlog
        {
            return Ok(());
        }
    }
    panic!("the work at a name never ends");
}

/// Accepts work that never ends, if an index contradicts its table. Work at a queue may then come
/// up again and again. Each call ends, and one such queue is enough.
fn endless(db: &Connection) -> rusqlite::Result<()> {
    assert!(!is_whole(db), "the work at a queue never ends");
    Err(rusqlite::Error::InvalidQuery)
}

fn is_whole(db: &Connection) -> bool {
    let check = db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    check.is_ok_and(|found| found == "ok")
}

fn a_name() -> Name {
    Name::new("gpus").expect("that is a name")
}

struct ThreeKindsOfContact;

impl Contacts for ThreeKindsOfContact {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        match inbox.0 % 3 {
            0 => Contact::Alive,
            1 => Contact::Listening,
            _ => Contact::Silent,
        }
    }
}
