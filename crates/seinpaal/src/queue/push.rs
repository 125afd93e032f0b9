//! Pushes. A program describes a push by its methods, and then awaits it.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use seinpaal_proto::{
    Name, Priority,
    queue::{
        self, Dedup, Due, ItemId, MAX_DELIVERIES, MAX_PAYLOAD_BYTES, MAX_WINDOW, Reply, Request,
    },
    time::micros,
};

use super::{PushError, Queue};
use crate::{
    driver,
    error::BadSetting,
    request::{Described, request},
};

/// How many deliveries an item is allowed if its push does not set a number.
const DELIVERIES: u32 = 5;

/// A new item, not yet pushed. See [`Queue::push_all`].
#[derive(Clone)]
#[must_use = "nothing is pushed before it is given to a queue"]
pub struct Push {
    payload: Result<Vec<u8>, PushError>,
    priority: i32,
    due: Due,
    group: Option<String>,
    dedup: Option<(String, Duration)>,
    deliveries: u32,
    labels: Vec<(String, String)>,
}

/// A request to push one item. It sends nothing before it is awaited.
///
/// # Cancel safety
/// Dropping the future before it is polled pushes nothing. After that the item may or may not be
/// pushed. Use [`dedup`](Self::dedup) if it has to be pushed once, however often that is tried.
///
/// # If the store is unreachable
/// The push is tried again for as long as the connection's [patience](crate::Builder::patience)
/// lasts, and takes effect once however often it was tried. After that time [`PushError::Store`]
/// says that it was not done, and [`PushError::Unknown`] that the outcome is unknown.
///
/// # Errors
/// [`PushError`]. Bad input is one of these errors, and is found before anything is sent.
#[must_use = "a request does nothing before it is awaited"]
pub struct PushRequest(Described<PushOne, Result<Pushed, PushError>>);

/// A request to push many items, which gives an answer for each, in order. It sends nothing before
/// it is awaited.
///
/// Items go in batches of up to 63 and about 1 MiB, in order. If one item is refused, the others
/// are pushed all the same.
///
/// # Cancel safety
/// Dropping the future before it is polled pushes nothing. After that each item may or may not be
/// pushed.
#[must_use = "a request does nothing before it is awaited"]
pub struct PushAll(Described<PushMany, Vec<Result<Pushed, PushError>>>);

#[derive(Debug)]
struct PushOne {
    queue: Queue,
    push: Push,
}

#[derive(Debug)]
struct PushMany {
    queue: Queue,
    pushes: Vec<Push>,
}

/// The result of a push.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Pushed {
    /// The number of the item.
    pub id: ItemId,
    /// Whether nothing was pushed, because this item with the same deduplication key was pushed not
    /// long ago.
    pub is_duplicate: bool,
}

macro_rules! options {
    (|$self:ident, $it:ident, $change:ident| $changed:expr) => {
        /// Sets the rank among items, −100 to 100, higher first. Default 0. A minute of waiting
        /// outweighs one step, so no item waits for ever.
        pub fn priority($self, priority: i32) -> Self {
            let $change = |$it: &mut Push| $it.priority = priority;
            $changed
        }

        /// Delivers the item after this long at the earliest, by the store's clock.
        pub fn delay($self, delay: Duration) -> Self {
            let $change = |$it: &mut Push| $it.due = Due::In(micros(delay));
            $changed
        }

        /// Delivers the item at this instant of the store's clock at the earliest. An instant that
        /// has passed means now.
        pub fn due($self, due: SystemTime) -> Self {
            // An instant before 1970 has passed as surely as 1970 has.
            let since = due.duration_since(UNIX_EPOCH).unwrap_or_default();
            let $change = |$it: &mut Push| $it.due = Due::At(micros(since));
            $changed
        }

        /// Sets the group whose share of the queue the item counts for: see [`Queue::group_limit`].
        /// A group is 1 to 512 bytes of UTF-8 without control characters.
        pub fn group($self, group: &str) -> Self {
            let $change = |$it: &mut Push| $it.group = Some(group.to_owned());
            $changed
        }

        /// Pushes nothing if an item with this key was pushed before and the `window` of that push
        /// (up to a week) has not passed. The answer is then the earlier item. A key has the same
        /// form as a group.
        pub fn dedup($self, key: &str, window: Duration) -> Self {
            let $change = |$it: &mut Push| $it.dedup = Some((key.to_owned(), window));
            $changed
        }

        /// Sets how often the item is delivered at most, 1 to 1 000 000. After the last failure it
        /// becomes a dead letter. Default 5. A delivery that is given back does not count.
        pub fn deliveries($self, deliveries: u32) -> Self {
            let $change = |$it: &mut Push| $it.deliveries = deliveries;
            $changed
        }

        /// Adds a label for workers, and for people who look at the item.
        pub fn label($self, key: &str, value: &str) -> Self {
            let $change = |$it: &mut Push| $it.labels.push((key.to_owned(), value.to_owned()));
            $changed
        }
    };
}

impl Push {
    /// A new item with this payload, at most 1 MiB.
    pub fn new(payload: impl Into<Vec<u8>>) -> Self {
        Self::of(Ok(payload.into()))
    }

    /// A new item whose payload is this value as JSON. If the value cannot be serialised, awaiting
    /// the push reports that.
    #[cfg(feature = "serde")]
    pub fn json<T: serde::Serialize + ?Sized>(value: &T) -> Self {
        Self::of(serde_json::to_vec(value).map_err(|error| PushError::Json(error.to_string())))
    }

    fn of(payload: Result<Vec<u8>, PushError>) -> Self {
        Self {
            payload,
            priority: 0,
            due: Due::Now,
            group: None,
            dedup: None,
            deliveries: DELIVERIES,
            labels: Vec::new(),
        }
    }

    options!(|self, it, change| {
        let mut it = self;
        change(&mut it);
        it
    });

    /// The key by which the part of a spread queue is chosen.
    pub(super) fn part_key(&self) -> Option<&str> {
        let key = self.dedup.as_ref().map(|(key, _)| key);
        // The group comes first, because a part counts only its own items, and the limit of a group
        // has to hold for all of them.
        self.group.as_ref().or(key).map(String::as_str)
    }

    /// Checks the push, before anything is sent.
    fn request(self, queue: &Queue) -> Result<Request, PushError> {
        let payload = self.payload?;
        if payload.len() > MAX_PAYLOAD_BYTES {
            return Err(PushError::TooLarge(payload.len()));
        }
        if !(1..=MAX_DELIVERIES).contains(&self.deliveries) {
            return Err(BadSetting::Deliveries(self.deliveries).into());
        }
        Ok(Request::Push(queue::Push {
            payload,
            priority: Priority::new(self.priority)?,
            due: self.due,
            group: self.group.map(|group| Name::new(&group)).transpose()?,
            dedup: self.dedup.map(|(key, window)| dedup(&key, window)).transpose()?,
            most: self.deliveries,
            about: queue.about(self.labels)?,
        }))
    }
}

impl fmt::Debug for Push {
    /// Without the payload, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.payload.as_ref().map_or(0, Vec::len);
        f.debug_struct("Push")
            .field("bytes", &bytes)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}

impl PushRequest {
    pub(super) fn new(queue: Queue, push: Push) -> Self {
        Self(Described::new(PushOne { queue, push }))
    }

    options!(|self, it, change| Self(self.0.with(|one: &mut PushOne| change(&mut one.push))));
}

impl PushOne {
    async fn run(self) -> Result<Pushed, PushError> {
        let pushed = PushMany { queue: self.queue, pushes: vec![self.push] }.run().await;
        pushed.into_iter().next().unwrap_or_else(|| unreachable!("one was pushed"))
    }
}

impl PushAll {
    pub(super) fn new(queue: Queue, pushes: Vec<Push>) -> Self {
        Self(Described::new(PushMany { queue, pushes }))
    }
}

impl PushMany {
    async fn run(self) -> Vec<Result<Pushed, PushError>> {
        let Self { queue, pushes } = self;
        let name = match queue.name.clone() {
            Ok(name) => name,
            Err(bad) => return pushes.iter().map(|_| Err(bad.clone().into())).collect(),
        };
        let mut requests = Vec::with_capacity(pushes.len());
        let checked = pushes.into_iter().map(|push| push.request(&queue));
        let checked = checked.map(|checked| checked.map(|request| requests.push(request)));
        // All pushes are checked before any is sent. A push that was refused here gets no answer
        // from the store.
        let checked: Vec<Result<(), PushError>> = checked.collect();
        let mut answers = queue.ask_all(name, requests).await.into_iter();
        let mut answer = || match answers.next() {
            Some(answer) => pushed(answer?),
            None => Err(PushError::Store(driver::misfit())),
        };
        checked.into_iter().map(|checked| checked.and_then(|()| answer())).collect()
    }
}

fn pushed(reply: Reply) -> Result<Pushed, PushError> {
    match reply {
        Reply::Pushed { id } => Ok(Pushed { id, is_duplicate: false }),
        Reply::Duplicate { id } => Ok(Pushed { id, is_duplicate: true }),
        _ => Err(PushError::Store(driver::misfit())),
    }
}

fn dedup(key: &str, window: Duration) -> Result<Dedup, PushError> {
    let length = micros(window);
    if length > MAX_WINDOW {
        return Err(BadSetting::Window(window).into());
    }
    Ok(Dedup { key: Name::new(key)?, window: length })
}

request!(PushRequest => Result<Pushed, PushError>);
request!(PushAll => Vec<Result<Pushed, PushError>>);
