//! The picture over time: held permits, waiters in line and wait times, as drawings and as a table
//! with the same figures.

mod lane;

use std::time::Duration;

use askama::Template;
use seinpaal_words::text::age;

use super::grouped;
use crate::history::{BEGINNING, Bucket, NamePast, Ring};
use lane::Lane;

/// How many rows the table has.
const ROWS: u64 = 10;

/// The titles of a picture's figures.
pub(super) struct Figures {
    pub(super) held: &'static str,
    pub(super) waiting: &'static str,
    pub(super) oldest: &'static str,
    /// Whether grants after a wait are known.
    pub(super) has_grants: bool,
}

/// The titles for a name.
pub(super) const PERMITS: Figures =
    Figures { held: "Held", waiting: "In line", oldest: "Longest wait", has_grants: true };

/// The titles for a queue.
pub(super) const ITEMS: Figures =
    Figures { held: "In work", waiting: "Ready", oldest: "Oldest ready", has_grants: false };

/// The pictures of both spans of a name or a queue.
#[derive(Template)]
#[template(path = "parts/past.html")]
pub(super) struct Pictures {
    short: Picture,
    long: Picture,
    /// Sentences about the waits and holds that ended within the short span.
    waits: String,
    holds: String,
    /// Sentences about the outages of the store within the long span.
    outages: Vec<String>,
}

/// How far back outages are told.
pub(super) const OUTAGES_WITHIN: Duration = Duration::from_secs(86_400);

/// The picture of one span.
struct Picture {
    /// The words for the span, like `10 minutes`.
    span: &'static str,
    figures: &'static Figures,
    /// A sentence that says since when there are readings, if they do not cover the whole span.
    since: String,
    lanes: [Lane; 3],
    /// A gap without readings: its beginning and its length, in buckets.
    gaps: Vec<(i64, i64)>,
    /// The first bucket, counted from the start of this program. Browsers do not draw exactly with
    /// numbers of nine digits.
    first: i64,
    length: i64,
    ticks: &'static [&'static str],
    rows: Vec<PastRow>,
}

/// A part of the span, in words.
struct PastRow {
    when: String,
    held: String,
    waiting: String,
    oldest: String,
    granted: String,
}

/// The words below the picture, from the oldest on the left to now.
const SHORT: [&str; 6] = ["10 min ago", "8 min", "6 min", "4 min", "2 min", "now"];
const LONG: [&str; 5] = ["24 h ago", "18 h", "12 h", "6 h", "now"];

impl Pictures {
    pub(super) fn of(
        past: &NamePast,
        now: Duration,
        figures: &'static Figures,
        outages: Vec<String>,
    ) -> Self {
        let begin = now.saturating_sub(Duration::from_secs(600));
        let words = |ended: Option<(usize, Duration, Duration)>, what: &str| {
            ended.map_or_else(String::new, |(count, half, most)| {
                let count = grouped(count as u64);
                let (half, most) = (age(half), age(most));
                format!("{what} that ended in the last 10 minutes: {count}; half of them within {half}, 19 in 20 within {most}.")
            })
        };
        Self {
            short: Picture::of(&past.fine, now, "10 minutes", &SHORT, figures),
            long: Picture::of(&past.coarse, now, "24 hours", &LONG, figures),
            waits: words(past.waits.since(begin), "Waits"),
            holds: words(past.holds.since(begin), "Holds"),
            outages,
        }
    }
}

impl Picture {
    fn of(
        ring: &Ring,
        now: Duration,
        span: &'static str,
        ticks: &'static [&'static str],
        figures: &'static Figures,
    ) -> Self {
        let (step, most) = ring.shape();
        let end = ring.number(now) + 1;
        let length = i64::try_from(most).unwrap_or(i64::MAX);
        let since_beginning = end.saturating_sub(ring.number(BEGINNING));
        let first = i64::try_from(since_beginning).unwrap_or(i64::MAX) - length;
        let numbers = end.saturating_sub(most as u64)..end;
        let buckets: Vec<_> = numbers.map(|number| ring.get(number)).collect();
        Self {
            span,
            figures,
            since: since(&buckets, step),
            lanes: [
                Lane::held(first, &buckets, span, figures),
                Lane::waiting(first, &buckets, span, figures),
                Lane::waits(first, &buckets, span, figures),
            ],
            gaps: gaps(first, &buckets),
            first,
            length,
            ticks,
            rows: rows(&buckets, step),
        }
    }
}

/// Says since when there are readings. It is empty if the first bucket of the span has one.
fn since(buckets: &[Option<&Bucket>], step: Duration) -> String {
    let Some(first) = buckets.iter().position(Option::is_some).filter(|first| *first > 0) else {
        return String::new();
    };
    let known = step * u32::try_from(buckets.len() - first).unwrap_or(u32::MAX);
    format!("There are readings from {} ago on. ", age(known))
}

/// Returns the runs of buckets without a reading.
fn gaps(first: i64, buckets: &[Option<&Bucket>]) -> Vec<(i64, i64)> {
    let mut gaps: Vec<(i64, i64)> = Vec::new();
    for (number, _) in (first..).zip(buckets).filter(|(_, bucket)| bucket.is_none()) {
        match gaps.last_mut() {
            Some((begin, length)) if *begin + *length == number => *length += 1,
            _ => gaps.push((number, 1)),
        }
    }
    gaps
}

/// Returns the rows of the table, the newest first.
fn rows(buckets: &[Option<&Bucket>], step: Duration) -> Vec<PastRow> {
    let size = buckets.len() / ROWS as usize;
    // The parts are cut from the newest bucket on, so that a shorter part is the oldest.
    let parts = buckets.rchunks(size.max(1)).zip(0_u32..);
    parts
        .map(|(part, back)| PastRow::of(part, step * back * u32::try_from(size).unwrap_or(0), step))
        .collect()
}

impl PastRow {
    fn of(part: &[Option<&Bucket>], ago: Duration, step: Duration) -> Self {
        let length = step * u32::try_from(part.len()).unwrap_or(0);
        let known: Vec<_> = part.iter().flatten().collect();
        let when = match ago {
            Duration::ZERO => format!("the last {}", age(length)),
            ago => format!("{} to {} ago", age(ago + length), age(ago)),
        };
        if known.is_empty() {
            let [held, waiting, oldest, granted] = ["not read", "", "", ""].map(str::to_owned);
            return Self { when, held, waiting, oldest, granted };
        }
        let most =
            |figure: fn(&Bucket) -> u32| known.iter().map(|it| figure(it)).max().unwrap_or(0);
        let least =
            |figure: fn(&Bucket) -> u32| known.iter().map(|it| figure(it)).min().unwrap_or(0);
        let granted: u64 = known.iter().map(|it| u64::from(it.granted)).sum();
        Self {
            when,
            held: range(least(|it| it.held.0), most(|it| it.held.1)),
            waiting: range(least(|it| it.waiting.0), most(|it| it.waiting.1)),
            oldest: lane::length(most(|it| it.oldest)),
            granted: grouped(granted),
        }
    }
}

/// Writes a range as `3` or `3 to 5`.
fn range(least: u32, most: u32) -> String {
    if least == most { grouped(most) } else { format!("{} to {}", grouped(least), grouped(most)) }
}

#[cfg(test)]
mod tests;
