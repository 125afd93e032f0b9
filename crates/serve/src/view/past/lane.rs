//! One drawing: a figure over time, as steps. On the horizontal axis a unit is a bucket, counted as
//! in the ring, so that the text of unchanged steps stays the same. The vertical axis has
//! [`HEIGHT`] units from the top of the scale down to zero.

use std::{fmt::Write as _, time::Duration};

use seinpaal_words::text::age;

use super::{Figures, grouped, range};
use crate::history::Bucket;

pub(super) const HEIGHT: u32 = 48;

/// A figure over time.
pub(super) struct Lane {
    pub(super) class: &'static str,
    pub(super) title: &'static str,
    /// The value now, and the top of the scale. It is empty if there is nothing to scale.
    pub(super) now: String,
    pub(super) top: String,
    /// The picture in one sentence.
    pub(super) words: String,
    /// The area below the highest values, and in it the area below the lowest values.
    pub(super) most: String,
    pub(super) least: String,
    /// The line of the limit. It is empty if there is no limit.
    pub(super) line: String,
    /// A dot for each bucket with grants after a wait.
    pub(super) dots: String,
}

type Buckets<'a> = [Option<&'a Bucket>];

impl Lane {
    pub(super) fn held(first: i64, buckets: &Buckets<'_>, span: &str, figures: &Figures) -> Self {
        let limit = top(buckets, |it| it.limit);
        let top = top(buckets, |it| it.held.1.max(it.limit));
        let scale = Scale { first, top };
        let now = last(buckets).map(|it| match it.limit {
            0 => grouped(it.held.1),
            limit => format!("{} of {}", grouped(it.held.1), grouped(limit)),
        });
        Self {
            class: "held",
            title: figures.held,
            top: up_to(top, grouped(top)),
            words: words(figures.held, span, buckets, |it| it.held, now.as_deref()),
            now: now.unwrap_or_default(),
            most: scale.area(buckets, |it| it.held.1),
            least: scale.area(buckets, |it| it.held.0),
            line: if limit > 0 { scale.steps(buckets, |it| it.limit) } else { String::new() },
            dots: String::new(),
        }
    }

    pub(super) fn waiting(
        first: i64,
        buckets: &Buckets<'_>,
        span: &str,
        figures: &Figures,
    ) -> Self {
        let top = top(buckets, |it| it.waiting.1);
        let scale = Scale { first, top };
        let now = last(buckets).map(|it| grouped(it.waiting.1));
        Self {
            class: "waiting",
            title: figures.waiting,
            top: up_to(top, grouped(top)),
            words: words(figures.waiting, span, buckets, |it| it.waiting, now.as_deref()),
            now: now.unwrap_or_default(),
            most: scale.area(buckets, |it| it.waiting.1),
            least: scale.area(buckets, |it| it.waiting.0),
            line: String::new(),
            dots: String::new(),
        }
    }

    pub(super) fn waits(first: i64, buckets: &Buckets<'_>, span: &str, figures: &Figures) -> Self {
        let top = top(buckets, |it| it.oldest.max(it.waited));
        let scale = Scale { first, top };
        let known = buckets.iter().flatten();
        let granted: u64 = known.clone().map(|it| u64::from(it.granted)).sum();
        let longest = match known.map(|it| it.oldest).max() {
            None => "not known".to_owned(),
            Some(0) => "none".to_owned(),
            Some(longest) => format!("{} at most", length(longest)),
        };
        Self {
            class: "waits",
            title: figures.oldest,
            now: last(buckets).map(|it| length(it.oldest)).unwrap_or_default(),
            top: up_to(top, length(top)),
            words: if figures.has_grants {
                let granted = grouped(granted);
                format!(
                    "Longest wait in line over the last {span}: {longest}; {granted} got in after a wait."
                )
            } else {
                format!("{} over the last {span}: {longest}.", figures.oldest)
            },
            most: scale.area(buckets, |it| it.oldest),
            least: String::new(),
            line: String::new(),
            dots: scale.dots(buckets),
        }
    }
}

fn up_to(top: u32, shown: String) -> String {
    if top == 0 { String::new() } else { format!("up to {shown}") }
}

/// Writes a length of time, or `none` if nobody waited.
pub(super) fn length(millis: u32) -> String {
    match millis {
        0 => "none".to_owned(),
        millis => age(Duration::from_millis(u64::from(millis))),
    }
}

fn last<'a>(buckets: &Buckets<'a>) -> Option<&'a Bucket> {
    buckets.last().copied().flatten()
}

fn top(buckets: &Buckets<'_>, figure: fn(&Bucket) -> u32) -> u32 {
    buckets.iter().flatten().map(|it| figure(it)).max().unwrap_or(0)
}

fn words(
    title: &str,
    span: &str,
    buckets: &Buckets<'_>,
    figure: fn(&Bucket) -> (u32, u32),
    now: Option<&str>,
) -> String {
    let known = buckets.iter().flatten().map(|it| figure(it));
    let (Some(least), Some(most)) =
        (known.clone().map(|it| it.0).min(), known.map(|it| it.1).max())
    else {
        return format!("{title} over the last {span}: not known.");
    };
    let now = now.map_or_else(String::new, |now| format!(", now {now}"));
    format!("{title} over the last {span}: {}{now}.", range(least, most))
}

struct Scale {
    first: i64,
    top: u32,
}

impl Scale {
    fn y(&self, value: u32) -> u32 {
        let share = u64::from(value) * u64::from(HEIGHT) / u64::from(self.top.max(1));
        HEIGHT - u32::try_from(share).unwrap_or(HEIGHT)
    }

    /// Calls `piece` for each run of known values without a gap, with the steps and the end of the
    /// run. The first step is the beginning of the run.
    fn runs(
        &self,
        buckets: &Buckets<'_>,
        figure: fn(&Bucket) -> u32,
        mut piece: impl FnMut(&[(i64, u32)], i64),
    ) {
        let mut steps: Vec<(i64, u32)> = Vec::new();
        // A gap is added behind the last bucket, so that it ends the last run.
        for (number, bucket) in (self.first..).zip(buckets.iter().copied().chain([None])) {
            match bucket.map(|it| self.y(figure(it))) {
                Some(y) if steps.last().is_none_or(|(_, last)| *last != y) => {
                    steps.push((number, y));
                }
                None if !steps.is_empty() => piece(&std::mem::take(&mut steps), number),
                _ => {}
            }
        }
    }

    fn area(&self, buckets: &Buckets<'_>, figure: fn(&Bucket) -> u32) -> String {
        let mut path = String::new();
        self.runs(buckets, figure, |steps, end| {
            // A run of zeros has no area, and the page is shorter without it.
            if steps.iter().all(|(_, y)| *y == HEIGHT) {
                return;
            }
            let _ = write!(path, "M{} {HEIGHT}", steps[0].0);
            for (x, y) in steps {
                let _ = write!(path, "H{x}V{y}");
            }
            let _ = write!(path, "H{end}V{HEIGHT}Z");
        });
        path
    }

    fn steps(&self, buckets: &Buckets<'_>, figure: fn(&Bucket) -> u32) -> String {
        let mut path = String::new();
        self.runs(buckets, figure, |steps, end| {
            let _ = write!(path, "M{} {}", steps[0].0, steps[0].1);
            for (x, y) in &steps[1..] {
                let _ = write!(path, "H{x}V{y}");
            }
            let _ = write!(path, "H{end}");
        });
        path
    }

    /// Draws a path of lines without length. Their round ends make them dots.
    fn dots(&self, buckets: &Buckets<'_>) -> String {
        let mut path = String::new();
        for (number, bucket) in (self.first..).zip(buckets) {
            if let Some(it) = bucket.filter(|it| it.granted > 0) {
                let _ = write!(path, "M{number}.5 {}h0", self.y(it.waited));
            }
        }
        path
    }
}
