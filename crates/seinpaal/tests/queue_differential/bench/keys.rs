//! Compares the keys of a queue, and whether they expire.

use seinpaal_proto::time::LONGEST_OWED;

use super::{Bench, KEY, Model};

/// The bytes of a plain head and of a delivery that is listed behind it, and how many may be
/// listed. The scripts have these numbers in `queue/forms.lua`.
const HEAD: usize = 162;
const LISTED: usize = 16;
const MOST_LISTED: usize = 64;
/// The server expires keys by its own clock, which goes on while the test looks. The keys here last
/// for hours, so a minute decides nothing.
const SLOW: i64 = 60_000;

impl Bench {
    /// A queue that costs nothing leaves no key, and a key that is worth keeping does not expire.
    pub(super) async fn compare_keys(&mut self, model: &mut Model) -> Option<String> {
        let keys: u64 = redis::cmd("DBSIZE").query_async(&mut self.ears).await.unwrap();
        let expected = if model.state.is_empty() { 0 } else { 2 };
        let head: Option<Vec<u8>> =
            redis::cmd("HGET").arg(&[KEY, "h"]).query_async(&mut self.ears).await.unwrap();
        let Some(head) = head.filter(|_| keys == expected) else {
            model.remembered = 0;
            return (keys != expected).then(|| format!("{keys} keys are left, not {expected}"));
        };
        let is_plain = head[1] == 0;
        let listed = if is_plain { (head.len() - HEAD) / LISTED } else { 0 };
        self.listed += u64::from(listed > 0);
        self.filled += u64::from(listed == MOST_LISTED);
        if listed > MOST_LISTED {
            return Some(format!("{listed} deliveries are listed"));
        }
        if let Some(difference) = self.uncounted(&head).await {
            return Some(difference);
        }
        let ends = self.ends().await;
        let should_end = is_plain && !is_kept(&head);
        if is_kept(&head) && ends != [false; 2] || should_end && ends != [true; 2] {
            return Some(format!("whether the keys expire: {ends:?}"));
        }
        if let Some(difference) = self.cut_short(&head).await {
            return Some(difference);
        }
        // Until when any memory of the queue is kept.
        let memory = field(&head, 18);
        (memory < model.remembered as f64)
            .then(|| format!("remembered until {memory}, not {}", model.remembered))
    }

    /// Checks that each item that the head counts has a record and a payload, and that there are no
    /// others.
    async fn uncounted(&mut self, head: &[u8]) -> Option<String> {
        let fields: Vec<Vec<u8>> =
            redis::cmd("HKEYS").arg(KEY).query_async(&mut self.ears).await.unwrap();
        let of = |letter| fields.iter().filter(|field| field[0] == letter).count();
        // The numbers of items that are ready, delayed, in work and dead.
        let counted = [6, 8, 9, 10].map(|at| field(head, at)).iter().sum::<f64>();
        let found = [of(b'i'), of(b'p')];
        (found.map(|found| found as f64) != [counted; 2])
            .then(|| format!("{found:?} items and payloads, not {counted}"))
    }

    /// Returns whether a key expires before the clock has passed the last number.
    async fn cut_short(&mut self, head: &[u8]) -> Option<String> {
        let ahead = field(head, 5) - field(head, 3);
        if is_kept(head) || !(0.0..=LONGEST_OWED as f64).contains(&ahead) {
            return None;
        }
        let milliseconds = ahead as i64 / 1000;
        let lasting = self.lasting().await;
        lasting
            .iter()
            .any(|left| *left != -1 && *left + SLOW < milliseconds)
            .then(|| format!("the keys last for {lasting:?} ms, and not for {milliseconds}"))
    }

    /// For how many milliseconds each of the keys lasts, or -1 for ever.
    async fn lasting(&mut self) -> [i64; 2] {
        let mut lasting = [0; 2];
        for (left, key) in lasting.iter_mut().zip([KEY.to_owned(), format!("{KEY}:o")]) {
            *left = redis::cmd("PTTL").arg(key).query_async(&mut self.ears).await.unwrap();
        }
        lasting
    }

    /// Whether each of the keys expires.
    async fn ends(&mut self) -> [bool; 2] {
        self.lasting().await.map(|left| left >= 0)
    }
}

/// A field of a head, in the order of docs/internals/stores/redis.md.
fn field(head: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(head[2 + 8 * at..][..8].try_into().unwrap())
}

/// Returns whether there are items, or limits.
fn is_kept(head: &[u8]) -> bool {
    let (limits, items) = ([0, 1], [6, 8, 9, 10]);
    limits.iter().any(|at| field(head, *at) >= 0.0) || items.iter().any(|at| field(head, *at) > 0.0)
}
