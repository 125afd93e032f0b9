//! The gate: a cell for each permit on its left, a dot for each waiter on its right.

use askama::Template;
use seinpaal::{Kind, MOST_READERS, Snapshot};

use super::headline::is_shut;

/// With more permits than this, a bar stands in place of the cells.
const MOST_CELLS: u32 = 16;
const MOST_DOTS: u32 = 9;
const WIDTH: u32 = 112;
const GAP: u32 = 2;
/// The place of the first dot, to the right of the post in the middle, and the distance to the next
/// dot.
const FIRST_DOT: u32 = 121;
const DOT: u32 = 6;

/// A drawing of holders and waiters, in user units of an SVG.
#[derive(Clone, Debug, Default, Eq, PartialEq, Template)]
#[template(path = "parts/gate.html")]
pub(crate) struct GatePicture {
    pub(crate) cells: Vec<Cell>,
    pub(crate) dots: Vec<u32>,
    /// Whether more tickets wait than there are dots.
    pub(crate) is_long: bool,
    /// Whether the name admits nobody.
    pub(crate) is_shut: bool,
}

/// A rectangle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cell {
    pub(crate) x: u32,
    pub(crate) width: u32,
    pub(crate) class: &'static str,
}

impl GatePicture {
    pub(crate) fn of(seen: &Snapshot) -> Self {
        let (held, limit) = permits(seen);
        Self::new(held, limit, seen.waiting_total, is_shut(seen))
    }

    /// Draws `held` cells of `limit`, or of `held` if more are held than the limit allows.
    pub(crate) fn new(held: u32, limit: u32, waiting: u32, is_shut: bool) -> Self {
        Self {
            cells: cells(held, limit.max(held)),
            dots: (0..waiting.min(MOST_DOTS)).map(|dot| FIRST_DOT + dot * DOT).collect(),
            is_long: waiting > MOST_DOTS,
            is_shut,
        }
    }
}

/// Returns the number of taken cells, and of all cells. For a readers-writer lock, each reader that
/// holds is a cell, and a writer is one cell that fills the gate.
fn permits(seen: &Snapshot) -> (u32, u32) {
    match (seen.kind, seen.permits_held) {
        (Some(Kind::RwLock), MOST_READERS) => (1, 1),
        (Some(Kind::RwLock), readers) => (readers, readers.max(1)),
        (_, held) => (held, seen.limit),
    }
}

fn cells(held: u32, all: u32) -> Vec<Cell> {
    match all {
        0 => vec![Cell { x: 0, width: WIDTH, class: "free" }],
        1..=MOST_CELLS => (0..all).map(|at| cell(at, all, held)).collect(),
        _ => {
            let share = u64::from(WIDTH) * u64::from(held) / u64::from(all);
            // At least a narrow bar shows that permits are held, even if their share is tiny.
            let least = u64::from(held > 0) * 2;
            let width = u32::try_from(share.max(least)).unwrap_or(WIDTH);
            vec![Cell { x: 0, width: WIDTH, class: "free" }, Cell { x: 0, width, class: "held" }]
        }
    }
}

fn cell(at: u32, all: u32, held: u32) -> Cell {
    let step = WIDTH + GAP;
    let (x, end) = (step * at / all, step * (at + 1) / all - GAP);
    Cell { x, width: end - x, class: if at < held { "held" } else { "free" } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_limit_has_a_cell_for_each_permit() {
        let gate = GatePicture::new(3, 4, 2, false);
        let classes: Vec<_> = gate.cells.iter().map(|cell| cell.class).collect();
        assert_eq!(classes, ["held", "held", "held", "free"]);
        assert_eq!(gate.dots.len(), 2);
        let last = gate.cells.last().map(|cell| cell.x + cell.width);
        assert_eq!(last, Some(WIDTH));
    }

    #[test]
    fn a_large_limit_has_one_bar_and_a_long_line_has_nine_dots() {
        let gate = GatePicture::new(1, 1_000_000_000, 10_000, false);
        assert_eq!(gate.cells.iter().map(|cell| cell.width).collect::<Vec<_>>(), [WIDTH, 2]);
        assert_eq!((gate.dots.len(), gate.is_long), (9, true));
    }

    #[test]
    fn more_held_than_the_limit_still_fits_the_bar() {
        assert_eq!(GatePicture::new(6, 4, 0, false).cells.len(), 6);
    }
}
