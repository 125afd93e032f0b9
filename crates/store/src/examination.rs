//! Examines the ledgers that a store keeps for contradictions.

use std::fmt;

use seinpaal_proto::{
    Batch, Inbox, MemoryState, Name, Replies, Reply, Request, queue, time::Micros,
};

use crate::StoreError;

/// The most rows of a kind that are read of one name. A name with more is looked at, but its rows
/// and totals are not compared.
pub const ROWS: u32 = 1000;
/// The same of a queue. A script of Redis reads no more than five times as many rows.
const QUEUE_ROWS: u32 = queue::Batch::MOST_ROWS / 5;
/// The longest finding, in characters.
const LONGEST: usize = 240;

/// The result of an examination of stored ledgers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Examination {
    /// How many names were looked at; in a quorum, at each node.
    pub names: usize,
    /// How many queues were looked at.
    pub queues: usize,
    /// Whether there were more names or queues, which were not looked at.
    pub is_cut: bool,
    /// The contradictions in the ledgers.
    pub contradictions: Vec<Contradiction>,
}

/// A contradiction in a stored ledger, or the reason why it cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Contradiction {
    /// The name, or the name of the queue.
    pub name: Name,
    /// Whether the name is that of a queue.
    pub is_queue: bool,
    /// The server, if the store keeps the name in more than one place.
    pub place: Option<String>,
    /// The finding, in one line.
    pub text: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_queue { "queue" } else { "name" };
        let place = self.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        write!(f, "the {kind} {}{place}: {}", self.name, self.text)
    }
}

impl Examination {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.contradictions.is_empty()
    }

    /// Returns whether as many as `most` names and queues have been looked at. Then the next one is
    /// not looked at, and the examination notes that there are more.
    #[doc(hidden)]
    pub fn is_full(&mut self, most: usize) -> bool {
        let is_full = self.names + self.queues >= most;
        self.is_cut |= is_full;
        is_full
    }

    /// Takes in the result of a [look](look_at) at a name.
    ///
    /// # Errors
    /// The error of the look, if the error is not about the record of this name.
    #[doc(hidden)]
    pub fn take(
        &mut self,
        name: &Name,
        place: Option<&str>,
        looked: Result<Vec<String>, StoreError>,
    ) -> Result<(), StoreError> {
        self.names += 1;
        self.note(name, false, place, looked)
    }

    /// Takes in the result of a [look](look_at_queue) at a queue.
    ///
    /// # Errors
    /// The error of the look, if the error is not about the record of this queue.
    #[doc(hidden)]
    pub fn take_queue(
        &mut self,
        name: &Name,
        looked: Result<Vec<String>, StoreError>,
    ) -> Result<(), StoreError> {
        self.queues += 1;
        self.note(name, true, None, looked)
    }

    /// Adds the findings of one look. An unreadable record is a finding; any other error ends the
    /// examination.
    fn note(
        &mut self,
        name: &Name,
        is_queue: bool,
        place: Option<&str>,
        looked: Result<Vec<String>, StoreError>,
    ) -> Result<(), StoreError> {
        let found = match looked {
            Ok(found) => found,
            Err(error) if error.is_about_what_is_kept() => vec![error.to_string()],
            Err(error) => return Err(error),
        };
        let place = place.map(str::to_owned);
        self.contradictions.extend(found.into_iter().map(|text| Contradiction {
            name: name.clone(),
            is_queue,
            place: place.clone(),
            text,
        }));
        Ok(())
    }
}

/// Returns the batch that looks at a name. It has no inbox.
#[doc(hidden)]
#[must_use]
pub fn look_at(name: &Name) -> Batch {
    let requests = vec![Request::Inspect { rows: ROWS }];
    Batch { name: name.clone(), inbox: None, fence_seen: 0, requests }
}

/// Returns the contradictions in the answers to [that batch](look_at).
#[doc(hidden)]
#[must_use]
pub fn found(replies: &Replies) -> Vec<String> {
    replies.replies.iter().flat_map(found_in).collect()
}

/// Returns the contradictions in one answer.
#[doc(hidden)]
#[must_use]
pub fn found_in(reply: &Reply) -> Vec<String> {
    match reply {
        Reply::Snapshot(snapshot) => snapshot.contradictions(ROWS),
        _ => Vec::new(),
    }
}

/// Returns the contradictions in a whole state. The caller checks it before anything is executed on
/// it.
#[doc(hidden)]
#[must_use]
pub fn found_in_state(state: &MemoryState) -> Vec<String> {
    let first = state.check().err();
    first.map(|text| text.chars().take(LONGEST).collect()).into_iter().collect()
}

/// The lists of items that are read with a snapshot. The snapshot itself has the items in work.
const LISTED: [queue::ItemState; 3] =
    [queue::ItemState::Ready, queue::ItemState::Delayed, queue::ItemState::Dead];

/// Returns the batch that looks at a queue, and lists its items in the same step. It belongs to no
/// session.
#[doc(hidden)]
#[must_use]
pub fn look_at_queue(name: &Name) -> queue::Batch {
    let list = |after| queue::Request::List { after, rows: QUEUE_ROWS };
    let lists = LISTED.map(queue::ItemPosition::before).map(list);
    let requests =
        [queue::Request::Inspect { rows: QUEUE_ROWS }].into_iter().chain(lists).collect();
    let (name, not_after) = (name.clone(), Micros::MAX);
    queue::Batch { name, session: Inbox(0), number: 0, not_after, seen: 0, requests }
}

/// Returns the contradictions in the answers to [that batch](look_at_queue).
#[doc(hidden)]
#[must_use]
pub fn found_in_queue(replies: &queue::Replies) -> Vec<String> {
    let Some((queue::Reply::Snapshot(snapshot), lists)) = replies.replies.split_first() else {
        return Vec::new();
    };
    let whole = LISTED.into_iter().zip(lists).filter_map(|(state, list)| match list {
        queue::Reply::Items { rows, next: None } => Some((state, &rows[..])),
        _ => None,
    });
    snapshot.contradictions(&whole.collect::<Vec<_>>(), QUEUE_ROWS)
}
