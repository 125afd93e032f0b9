//! The history: one line an event. A process writes the line before it acts on the event.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::Path,
    sync::Arc,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::clock;

/// Something that happened: to semaphores, unless said otherwise.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Event<W = What> {
    /// When, in microseconds of [`clock::now`].
    pub at: u64,
    /// To whom: `rig`, or a worker's life such as `w1.3`.
    pub who: String,
    /// What.
    #[serde(flatten)]
    pub what: W,
}

/// What can happen. Requests are named by `req`, unique in a history.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
#[allow(missing_docs)] // what they have in common is said once, above and at each variant
pub enum What {
    /// A name and its limit.
    Name { name: String, limit: u32 },
    /// A worker lives.
    Started,
    /// A worker has closed its connection and ends.
    Ended,
    /// A request is about to be made. It waits at most so many microseconds; `None`: for ever. 0: not at all.
    Ask { req: String, name: String, permits: u32, timeout: Option<u64> },
    /// The store has said that it stands in line.
    Queued { req: String, waiting: u32 },
    /// The permit is in hand, believed in until this moment if it is not renewed (`None`: for life).
    Granted { req: String, ticket: String, fence: u64, slots: Vec<u32>, until: Option<u64> },
    /// It is still believed in, now until this moment.
    Held { req: String, until: Option<u64> },
    /// The holder was told that the lease was not renewed.
    Danger { req: String },
    /// The holder was told of the loss.
    Lost { req: String, how: String },
    /// The permit is about to be given back.
    Releasing { req: String },
    /// The store has answered that.
    Released { req: String, held: bool },
    /// The request is about to be dropped.
    Withdrawn { req: String },
    /// The request ended without a permit.
    Refused { req: String, why: String },
    /// The rig is about to kill a worker's life.
    Killing { life: String },
    /// The rig is about to stop it (`SIGSTOP`).
    Stopping { life: String },
    /// It was told to go on.
    Continued { life: String },
    /// The rig begins a fault; of one worker, or of all (`None`).
    FaultBegins { fault: String, worker: Option<usize> },
    /// The fault is undone, what it hit is up again.
    FaultEnds { fault: String, worker: Option<usize> },
    /// The store cannot grant anything from now on: a master is away, or is without the replicas that it needs.
    Broken,
    /// It can again.
    Whole,
    /// What somebody who looks sees when all have gone.
    Left { name: String, permits: u32, waiting: u32 },
    /// What the store still keeps then.
    Kept { what_is_kept: String },
    /// The limits of the queue.
    Limits { limit: u32, group_limit: u32 },
    /// An item is about to be pushed, due after so many microseconds.
    Push { req: String, delay: u64, group: Option<String> },
    /// It is in the queue.
    Pushed { req: String, id: u64 },
    /// It is not, or maybe.
    NotPushed { req: String, maybe: bool, why: String },
    /// A worker is about to wait for an item.
    Pop { req: String },
    /// It got none.
    PopEnded { req: String, why: String },
    /// An item is in hand, believed in until this moment if its lease is not renewed (`None`: for life).
    Delivered {
        req: String,
        payload: String,
        id: u64,
        fence: u64,
        group: Option<String>,
        until: Option<u64>,
    },
    /// It is still believed in, now until this moment.
    InHand { id: u64, fence: u64, until: Option<u64> },
    /// The worker was told of the loss.
    ItemLost { id: u64, fence: u64 },
    /// A delivery is about to be ended.
    Finishing { id: u64, fence: u64, how: String },
    /// The store has answered that.
    Finished { id: u64, fence: u64, end: String },
    /// What is in the queue when all have gone and everything was taken out.
    QueueLeft { ready: u32, delayed: u32, in_work: u32 },
    /// An item that was still delayed then, and was cancelled: the store's clock was set.
    StillDelayed { id: u64 },
    /// A dead letter that is there then.
    DeadLetter { id: u64 },
    /// Something did not come about in time.
    Hangs { what_hangs: String },
}

/// Writes events to the end of a file. Clones write to the same one.
#[derive(Clone, Debug)]
pub struct Pen {
    file: Arc<File>,
    who: String,
}

impl Pen {
    /// Opens the file for `who`, and makes it if it is not there.
    ///
    /// # Errors
    /// As for any file.
    pub fn open(path: &Path, who: &str) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file: Arc::new(file), who: who.to_owned() })
    }

    /// Writes down what happens now.
    pub fn write(&self, what: impl Serialize) {
        self.write_at(clock::now(), what);
    }

    /// Writes down what happened at a moment shortly before.
    ///
    /// # Panics
    /// If it cannot be written: a history with gaps proves nothing.
    pub fn write_at(&self, at: u64, what: impl Serialize) {
        let event = Event { at, who: self.who.clone(), what };
        let mut line = serde_json::to_vec(&event).expect("events are plain data");
        line.push(b'\n');
        // One write to the end of a file: lines of different processes do not mix, and none is torn.
        (&*self.file).write_all(&line).expect("the history can be written");
    }
}

/// Reads a history, in order of time.
///
/// # Errors
/// If the file cannot be read, or a line of it is no event.
pub fn read<W: DeserializeOwned>(path: &Path) -> io::Result<Vec<Event<W>>> {
    let lines = BufReader::new(File::open(path)?).lines();
    let parse = |line: io::Result<String>| Ok(serde_json::from_str(&line?)?);
    let mut events: Vec<Event<W>> = lines.map(parse).collect::<io::Result<_>>()?;
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
        let fault = || What::FaultBegins { fault: "cut".into(), worker: Some(1) };
        one.write_at(
            7,
            What::Granted {
                req: "w0.1.1".into(),
                ticket: "t".into(),
                fence: u64::MAX,
                slots: vec![0, 2],
                until: None,
            },
        );
        other.write_at(5, fault());
        let events: Vec<Event> = read(&path).unwrap();
        assert_eq!(events.iter().map(|event| event.at).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(events[0].what, fault());
        assert!(matches!(&events[1].what, What::Granted { fence: u64::MAX, until: None, .. }));
    }
}
