//! The history: one line for each event. A process writes the line before it acts on the event.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::Path,
    sync::Arc,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::clock;

/// An event. It is about semaphores, unless its description says otherwise.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct HistoryEvent<W = TortureWhat> {
    /// When, in microseconds of [`clock::now`].
    pub at: u64,
    /// The process that the event is about: `rig`, or a worker's life such as `w1.3`.
    pub who: String,
    /// The event itself.
    #[serde(flatten)]
    pub what: W,
}

/// The kinds of events. `req` names a request, and is unique in a history.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)] // what they have in common is said once, above and at each variant
pub enum TortureWhat {
    /// A name and its limit.
    Name { name: String, limit: u32 },
    /// A worker lives.
    Started,
    /// A worker has closed its connection and ends.
    Ended,
    /// A request is about to be made. It waits at most this many microseconds. `None` waits for
    /// ever, and 0 not at all.
    Want { req: String, name: String, permits: u32, timeout: Option<u64> },
    /// The store has answered that the request stands in line.
    Queued { req: String, waiting: u32 },
    /// The permit is in hand, and believed in until this moment unless it is renewed. `None`: for
    /// as long as the process lives.
    Granted { req: String, ticket: String, fence: u64, slots: Vec<u32>, until: Option<u64> },
    /// The permit is still believed in, now until this moment.
    Held { req: String, until: Option<u64> },
    /// The holder was told that its lease was not renewed.
    Danger { req: String },
    /// The holder was told of the loss.
    Lost { req: String, how: String },
    /// The permit is about to be given back.
    Releasing { req: String },
    /// The store has answered the release.
    Released { req: String, held: bool },
    /// The request is about to be dropped.
    Withdrawn { req: String },
    /// The request ended without a permit.
    Refused { req: String, why: String },
    /// The rig is about to kill a worker's life.
    Killing { life: String },
    /// The rig is about to stop a worker's life (`SIGSTOP`).
    Stopping { life: String },
    /// The stopped life was told to go on.
    Continued { life: String },
    /// The rig begins a fault, at one worker or, with `None`, at all.
    FaultBegins { fault: String, worker: Option<usize> },
    /// The fault is undone, and the process that it hit is up again.
    FaultEnds { fault: String, worker: Option<usize> },
    /// From now on the store can grant nothing: a master is down, or lacks the replicas that it
    /// needs.
    Broken,
    /// The store can grant again.
    Whole,
    /// What an observer sees at a name after all workers have gone.
    Left { name: String, permits: u32, waiting: u32 },
    /// What the store still keeps then.
    Kept { what_is_kept: String },
    /// The limits of the queue.
    Limits { limit: u32, group_limit: u32 },
    /// An item is about to be pushed. It is due after this many microseconds.
    Push { req: String, delay: u64, group: Option<String> },
    /// The item is in the queue.
    Pushed { req: String, id: u64 },
    /// The item is not in the queue, or, with `maybe`, nobody knows.
    NotPushed { req: String, maybe: bool, why: String },
    /// A worker is about to wait for an item.
    Pop { req: String },
    /// The worker got no item.
    PopEnded { req: String, why: String },
    /// An item is in hand, and believed in until this moment unless its lease is renewed. `None`:
    /// for as long as the process lives.
    Delivered {
        req: String,
        payload: String,
        id: u64,
        fence: u64,
        group: Option<String>,
        until: Option<u64>,
    },
    /// The item is still believed in, now until this moment.
    InHand { id: u64, fence: u64, until: Option<u64> },
    /// The worker was told that it lost the item.
    ItemLost { id: u64, fence: u64 },
    /// The worker is about to end a delivery.
    Finishing { id: u64, fence: u64, how: String },
    /// The store has answered the end of a delivery.
    Finished { id: u64, fence: u64, end: String },
    /// What is in the queue when all workers have gone and every item was taken out.
    QueueLeft { ready: u32, delayed: u32, in_work: u32 },
    /// An item was still delayed then, because the store's clock was set, and was cancelled.
    StillDelayed { id: u64 },
    /// A dead letter is in the queue then.
    DeadLetter { id: u64 },
    /// Something did not happen in time.
    Hangs { what_hangs: String },
}

/// Writes events to the end of a file. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Pen {
    file: Arc<File>,
    who: String,
}

impl Pen {
    /// Opens the file for `who`, and creates it if it is missing.
    ///
    /// # Errors
    /// As for any file.
    pub fn open(path: &Path, who: &str) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file: Arc::new(file), who: who.to_owned() })
    }

    /// Writes down an event of this moment.
    pub fn write(&self, what: impl Serialize) {
        self.write_at(clock::now(), what);
    }

    /// Writes down an event of a moment shortly before.
    ///
    /// # Panics
    /// If it cannot be written: a history with gaps proves nothing.
    pub fn write_at(&self, at: u64, what: impl Serialize) {
        let event = HistoryEvent { at, who: self.who.clone(), what };
        let mut line = serde_json::to_vec(&event).expect("events are plain data");
        line.push(b'\n');
        // An event is a single write to the end of a file, so lines of different processes do not
        // mix, and no line is torn.
        (&*self.file).write_all(&line).expect("the history can be written");
    }
}

/// Reads a history, in order of time.
///
/// # Errors
/// If the file cannot be read, or a line of it is no event.
pub fn read<W: DeserializeOwned>(path: &Path) -> io::Result<Vec<HistoryEvent<W>>> {
    let lines = BufReader::new(File::open(path)?).lines();
    let parse = |line: io::Result<String>| Ok(serde_json::from_str(&line?)?);
    let mut events: Vec<HistoryEvent<W>> = lines.map(parse).collect::<io::Result<_>>()?;
    events.sort_by_key(|event| event.at); // stable: one process's events stay in its order
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_many_is_read_in_order_of_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        let (one, other) = (Pen::open(&path, "w0.1").unwrap(), Pen::open(&path, "rig").unwrap());
        let fault = || TortureWhat::FaultBegins { fault: "cut".into(), worker: Some(1) };
        one.write_at(
            7,
            TortureWhat::Granted {
                req: "w0.1.1".into(),
                ticket: "t".into(),
                fence: u64::MAX,
                slots: vec![0, 2],
                until: None,
            },
        );
        other.write_at(5, fault());
        let events: Vec<HistoryEvent> = read(&path).unwrap();
        assert_eq!(events.iter().map(|event| event.at).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(events[0].what, fault());
        assert!(matches!(
            &events[1].what,
            TortureWhat::Granted { fence: u64::MAX, until: None, .. }
        ));
    }
}
