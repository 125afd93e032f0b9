//! The quality of estimates at names to which as many waiters come as go.

use std::{collections::VecDeque, vec::Vec};

use super::{SECOND, holder, name, waiter};
use crate::{HoldLengths, HolderRow, RecentHolds, Slots, WaiterRow, time::Micros, why::Estimate};

const SAMPLES: usize = 400;
const MEAN: f64 = 60.0;

/// Random numbers by xorshift (Marsaglia 2003), each a share of 1, never 0.
struct Dice(u64);

impl Dice {
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

/// Draws the length of a hold.
type Hold = fn(&mut Dice) -> f64;

fn equal(_: &mut Dice) -> f64 {
    MEAN
}

/// Draws from half to one and a half times the mean.
fn alike(dice: &mut Dice) -> f64 {
    MEAN * (0.5 + dice.share())
}

/// Draws as if every moment were equally likely to be the end.
fn random(dice: &mut Dice) -> f64 {
    -MEAN * dice.share().ln()
}

/// A name at which as many waiters come as go: each holder that is done goes to the end of the
/// line.
struct Play {
    holders: Vec<(f64, f64)>,
    /// When those in line came.
    line: VecDeque<f64>,
    now: f64,
    /// How long the last holds took.
    ended: VecDeque<f64>,
    known: Known,
}

/// The holds of which an observer knows the lengths.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The last holds that the observer has seen end, so many.
    Seen(usize),
    /// The holds of which the head of the name tells.
    Head,
}

impl Known {
    fn most(self) -> usize {
        match self {
            Self::Seen(most) => most,
            Self::Head => 7,
        }
    }

    fn lengths(self, ended: impl Iterator<Item = Micros>) -> HoldLengths {
        match self {
            Self::Seen(_) => HoldLengths::of(ended.collect()),
            Self::Head => HoldLengths::from(ended.fold(RecentHolds::NONE, RecentHolds::with)),
        }
    }
}

impl Play {
    fn new(limit: u32, line: u32, known: Known, dice: &mut Dice) -> Self {
        // The holds begin at different times, as they do after a while.
        let holders = (0..limit).map(|_| (0.0, dice.share() * MEAN)).collect();
        let line = (0..line).map(|_| 0.0).collect();
        Self { holders, line, now: 0.0, ended: VecDeque::new(), known }
    }

    fn next(&mut self, hold: Hold, dice: &mut Dice) {
        let first = (0..self.holders.len())
            .min_by(|a, b| self.holders[*a].1.total_cmp(&self.holders[*b].1))
            .unwrap();
        self.now = self.holders[first].1;
        self.ended.push_back(self.now - self.holders[first].0);
        self.ended.drain(..self.ended.len().saturating_sub(self.known.most()));
        self.holders[first] = (self.now, self.now + hold(dice));
        self.line.pop_front();
        self.line.push_back(self.now);
    }

    /// Returns any moment until the next end.
    fn moment(&self, dice: &mut Dice) -> f64 {
        let next = self.holders.iter().map(|(_, end)| *end).fold(f64::MAX, f64::min);
        self.now + dice.share() * (next - self.now)
    }

    fn estimates(&self, at: f64) -> Vec<f64> {
        let since = |began: f64| ((at - began) * SECOND as f64) as Micros;
        let held = self.holders.iter().zip(0..).map(|((began, _), number)| {
            let mut slots = Slots::none();
            slots.insert(number, number);
            HolderRow { slots, held_for: since(*began), ..holder(number.into(), 1, 0, None) }
        });
        let first = self.holders.len() as u128;
        let waits = self
            .line
            .iter()
            .zip(first..)
            .map(|(came, number)| WaiterRow { waiting_for: since(*came), ..waiter(number, 1) });
        let seen = name(self.holders.len() as u32, held.collect(), waits.collect());
        let ended = self.ended.iter().map(|took| (took * SECOND as f64) as Micros);
        let estimates = seen.estimates(&self.known.lengths(ended));
        let wait = |estimate: &Estimate| estimate.wait().map(|wait| wait.as_secs_f64());
        estimates.iter().filter_map(wait).collect()
    }
}

/// Returns the share of waiters whose estimate is within a factor of two of their real wait.
fn share_within_two(limit: u32, line: u32, known: Known, hold: Hold) -> f64 {
    let dice = &mut Dice(0x9e37_79b9_7f4a_7c15);
    let mut play = Play::new(limit, line, known, dice);
    let (mut good, mut all) = (0, 0);
    for _ in 0..SAMPLES {
        for _ in 0..4 * (limit + line) {
            play.next(hold, dice);
        }
        let at = play.moment(dice);
        for estimate in play.estimates(at) {
            play.next(hold, dice);
            let came = play.now - at;
            good += u32::from(estimate <= 2.0 * came && came <= 2.0 * estimate);
            all += 1;
        }
    }
    f64::from(good) / f64::from(all)
}

/// The number of permits and of waiters, and the share of good estimates with equal, similar and
/// random holds.
type Shares = [((u32, u32), [f64; 3]); 4];

fn shares_are_at_least(shares: Shares, known: Known) {
    for ((limit, line), least) in shares {
        let holds = [equal as Hold, alike, random];
        let shares = holds.map(|hold| share_within_two(limit, line, known, hold));
        std::println!("limit {limit}, line {line}, {known:?}: {shares:.2?}");
        let is_good = shares.iter().zip(least).all(|(share, least)| *share >= least);
        assert!(is_good, "limit {limit}, line {line}: {shares:.2?} of {least:?}");
    }
}

/// The shares are not much less than those that were measured with the last seven holds.
#[test]
fn by_what_the_head_says_most_estimates_are_within_a_factor_of_two() {
    let shares = [
        ((1, 1), [0.90, 0.60, 0.25]),
        ((1, 5), [0.95, 0.85, 0.50]),
        ((4, 12), [0.90, 0.85, 0.70]),
        ((16, 64), [0.95, 0.95, 0.90]),
    ];
    shares_are_at_least(shares, Known::Head);
}

/// The shares are not much less than those that were measured with holds that a reader saw end.
#[test]
fn a_reader_that_has_seen_more_holds_end_has_better_estimates() {
    let shares = [
        ((1, 1), [0.95, 0.55, 0.25]),
        ((1, 5), [0.95, 0.85, 0.45]),
        ((4, 12), [0.85, 0.85, 0.70]),
        ((16, 64), [0.95, 0.95, 0.90]),
    ];
    shares_are_at_least(shares, Known::Seen(3));
    let shares = [
        ((1, 1), [0.95, 0.65, 0.25]),
        ((1, 5), [0.95, 0.90, 0.55]),
        ((4, 12), [0.95, 0.90, 0.75]),
        ((16, 64), [0.95, 0.95, 0.90]),
    ];
    shares_are_at_least(shares, Known::Seen(64));
}
