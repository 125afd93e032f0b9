//! Watches: one reader of the store for each subject of a page, shared by all browsers that show
//! it.
//!
//! While a stream is open, a watch of a name or a queue reads twice a second, and a watch of a list
//! once a second. Each request for a page makes the watch read once more. Otherwise it reads
//! nothing, and it ends after [`LINGER`].

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::{sync::watch, time::timeout};

use crate::{
    source::StoreSource,
    view::{self, PageSubject},
};

/// The time between two readings of a list.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two readings of one name or queue. With it a grant is on a page within a
/// second, even on a busy machine.
const SHORT_INTERVAL: Duration = Duration::from_millis(500);
/// How long an unused watch stays.
const LINGER: Duration = Duration::from_secs(30);
/// How long a page waits for the first reading.
const FIRST: Duration = Duration::from_secs(8);
/// How long the store may take for one name or queue.
const SILENCE: Duration = Duration::from_secs(6);
/// How long the store may take for a list, or for all items of a queue: 100 000 names take tens of
/// seconds on a busy machine.
const LIST_SILENCE: Duration = Duration::from_secs(120);
/// How many watches there may be.
const MOST: usize = 1000;

/// A piece of a page that changes by itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PagePart {
    pub(crate) id: &'static str,
    pub(crate) html: String,
    /// The version of the frame in which it last changed.
    pub(crate) since: u64,
}

/// The state of one subject at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// The number of the watch. Another watch counts its versions anew.
    pub(crate) epoch: u64,
    /// The number of readings. It is 0 before the first.
    pub(crate) version: u64,
    /// The pieces for visitors who may only read, and for those who may act.
    pub(crate) parts: [Vec<PagePart>; 2],
    /// The moment of the store's last answer.
    answered: Option<Instant>,
    /// The moment since which the store has not answered, and the last error.
    pub(crate) trouble: Option<(Instant, String)>,
}

/// All watches.
#[derive(Default)]
pub(crate) struct PageWatches(Mutex<HashMap<PageSubject, PageWatch>>);

struct PageWatch {
    frames: watch::Receiver<Frame>,
    /// The count of readings that pages have asked for.
    asked: watch::Sender<u64>,
}

/// The error if too many subjects are watched already.
#[derive(Debug)]
pub(crate) struct TooMany;

impl PageWatches {
    /// Returns the frames of a subject from now on. Asks for a reading, for which the caller may
    /// wait with [`first`].
    pub(crate) fn look(
        &self,
        inner: &Arc<StoreSource>,
        subject: PageSubject,
    ) -> Result<watch::Receiver<Frame>, TooMany> {
        let mut watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that has ended has dropped its receiver.
        watches.retain(|_, watch| watch.asked.receiver_count() > 0);
        let is_full = watches.len() >= MOST;
        if let Some(watch) = watches.get(&subject) {
            watch.asked.send_modify(|asked| *asked += 1);
            return Ok(watch.frames.clone());
        }
        if is_full {
            return Err(TooMany);
        }
        let (sender, frames) = watch::channel(Frame { epoch: epoch(), ..Frame::default() });
        let (asked, asks) = watch::channel(0);
        tokio::spawn(read_on(Arc::clone(inner), subject.clone(), sender, asks));
        watches.insert(subject, PageWatch { frames: frames.clone(), asked });
        Ok(frames)
    }

    /// Returns the number of watched subjects.
    pub(crate) fn len(&self) -> usize {
        let watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watches.values().filter(|watch| watch.asked.receiver_count() > 0).count()
    }
}

/// Makes the number of a watch. All numbers differ, even after a restart of this program.
fn epoch() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    let later = |last: u64| now.max(last + 1);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
    later(last.unwrap_or_else(|last| last))
}

/// Returns the next frame with a newer reading than the last seen one. If no newer frame comes in
/// time, returns the last frame.
pub(crate) async fn first(frames: &mut watch::Receiver<Frame>) -> Frame {
    let had = frames.borrow_and_update().version;
    let next = frames.wait_for(|frame| frame.version > had);
    // Without an answer in time, the page shows the last data, and says that they are old.
    let _ = timeout(FIRST, next).await;
    frames.borrow().clone()
}

/// Reads a subject for as long as pages show it, and a little longer.
async fn read_on(
    inner: Arc<StoreSource>,
    subject: PageSubject,
    frames: watch::Sender<Frame>,
    mut asks: watch::Receiver<u64>,
) {
    loop {
        // Requests count as seen before the reading. So a page that asks during the reading gets
        // another one.
        asks.borrow_and_update();
        let began = Instant::now();
        let seen = timeout(silence(&subject), view::read(&inner, &subject)).await;
        let seen = seen.unwrap_or_else(|_| Err("it does not answer".to_owned()));
        inner.note_silence(seen.is_err());
        frames.send_modify(|frame| frame.take(seen));
        // Even if many pages ask, the store is read at most ten times in an interval.
        let interval = interval(&subject, began.elapsed());
        tokio::time::sleep(interval / 10).await;
        // The table of watches keeps one receiver, and every stream has another. So more than one
        // receiver means an open stream.
        let longest_wait = if frames.receiver_count() > 1 { interval * 9 / 10 } else { LINGER };
        let is_over =
            timeout(longest_wait, asks.changed()).await.is_err() && longest_wait == LINGER;
        if is_over && frames.receiver_count() <= 1 {
            return;
        }
    }
}

/// Returns how long to wait after a reading that took this long.
fn interval(subject: &PageSubject, took: Duration) -> Duration {
    match subject {
        PageSubject::Names(_) | PageSubject::Queues(_) => INTERVAL,
        // A search has read all items of a queue, which may be very many.
        PageSubject::Queue(_, items) if items.searches() => SHORT_INTERVAL.max(10 * took),
        PageSubject::Name(_) | PageSubject::Queue(..) => SHORT_INTERVAL,
    }
}

fn silence(subject: &PageSubject) -> Duration {
    match subject {
        PageSubject::Names(_) | PageSubject::Queues(_) => LIST_SILENCE,
        PageSubject::Queue(_, items) if items.searches() => LIST_SILENCE,
        PageSubject::Name(_) | PageSubject::Queue(..) => SILENCE,
    }
}

impl Frame {
    /// Returns the frame with an empty part in each place if nothing was read yet, so that the page
    /// has places to fill later.
    pub(crate) fn with_places(mut self, ids: &[&'static str]) -> Self {
        for parts in self.parts.iter_mut().filter(|parts| parts.is_empty()) {
            let places = ids.iter().map(|id| PagePart { id, html: String::new(), since: 0 });
            parts.extend(places);
        }
        self
    }

    /// Takes a reading, or the reason why there is none.
    fn take(&mut self, seen: Result<[Vec<(&'static str, String)>; 2], String>) {
        self.version += 1;
        match seen {
            Err(error) => {
                // An outage begins with the last answer, and not with the first failure.
                let before = self.trouble.take().map(|(since, _)| since).or(self.answered);
                self.trouble = Some((before.unwrap_or_else(Instant::now), error));
            }
            Ok(parts) => {
                self.trouble = None;
                self.answered = Some(Instant::now());
                let version = self.version;
                for (role, parts) in parts.into_iter().enumerate() {
                    let old = std::mem::take(&mut self.parts[role]);
                    let new = parts.into_iter().map(|(id, html)| {
                        let same = old.iter().find(|part| part.id == id && part.html == html);
                        let since = same.map_or(version, |part| part.since);
                        PagePart { id, html, since }
                    });
                    self.parts[role] = new.collect();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<[Vec<(&'static str, String)>; 2], String> {
        let parts = vec![("head", text.to_owned()), ("rest", "same".to_owned())];
        Ok([parts.clone(), parts])
    }

    #[test]
    fn a_part_keeps_the_version_in_which_it_last_changed() {
        let mut frame = Frame::default();
        frame.take(parts("one"));
        frame.take(parts("two"));
        frame.take(Err("gone".to_owned()));
        let since: Vec<_> = frame.parts[0].iter().map(|part| (part.id, part.since)).collect();
        assert_eq!((since, frame.version), (vec![("head", 2), ("rest", 1)], 3));
        assert_eq!(frame.trouble.as_ref().map(|(_, words)| words.as_str()), Some("gone"));
    }

    #[test]
    fn a_page_without_data_has_a_place_for_each_part() {
        let places = Frame::default().with_places(&["head", "rest"]);
        let ids = places.parts.map(|parts| parts.iter().map(|part| part.id).collect::<Vec<_>>());
        assert_eq!(ids, [["head", "rest"], ["head", "rest"]]);
        let mut read = Frame::default();
        read.take(parts("one"));
        assert_eq!(read.clone().with_places(&["head", "rest"]).parts, read.parts);
    }

    #[test]
    fn trouble_counts_from_the_last_answer_and_ends_with_the_next() {
        let mut frame = Frame::default();
        frame.take(parts("one"));
        let answered = frame.answered;
        frame.take(Err("gone".to_owned()));
        frame.take(Err("still gone".to_owned()));
        assert_eq!(frame.trouble.clone().map(|(since, _)| since), answered);
        frame.take(parts("back"));
        assert!(frame.trouble.is_none());
    }
}
