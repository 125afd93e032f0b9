//! Tables for people: columns aligned, two spaces between them, no lines, and no wider than the
//! screen.

mod room;

use super::text::{cut, cut_start, fill, plain, width};
pub(crate) use room::{TableRoom, may_be_bold};

const GAP: usize = 2;

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Align {
    Left,
    Right,
}

/// The part of a cell that may be cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cut {
    /// Nothing.
    Nothing,
    /// The end, down to this many columns of the screen.
    End(usize),
    /// The start, where names differ least.
    Start(usize),
}

/// A column: its head, and the way to save room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    head: &'static str,
    align: Align,
    cut: Cut,
    /// The column with the highest rank is left out first. A column with rank 0 stays.
    rank: u8,
}

impl Column {
    /// Makes a column of text.
    pub(crate) const fn left(head: &'static str) -> Self {
        Self { head, align: Align::Left, cut: Cut::Nothing, rank: 0 }
    }

    /// Makes a column of numbers.
    pub(crate) const fn right(head: &'static str) -> Self {
        Self { align: Align::Right, ..Self::left(head) }
    }

    /// Allows the column to be left out. The highest rank is left out first.
    pub(crate) const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Allows cells to lose their ends, down to this many columns of the screen.
    pub(crate) const fn cut(self, least: usize) -> Self {
        Self { cut: Cut::End(least), ..self }
    }

    /// Allows cells to lose their starts, down to this many columns of the screen.
    pub(crate) const fn cut_start(self, least: usize) -> Self {
        Self { cut: Cut::Start(least), ..self }
    }
}

/// A table that is being filled.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with as many cells as there are columns. An empty cell is shown as `-`.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let shown =
            |cell: String| if cell.is_empty() { "-".to_owned() } else { plain(&cell).into_owned() };
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    /// Renders the table with its heads, as the room allows.
    pub(crate) fn render(&self, room: TableRoom) -> String {
        let widths = self.widths(room);
        let heads = self.columns.iter().map(|column| column.head.to_owned()).collect::<Vec<_>>();
        let head = self.line(&heads, &widths);
        let mut text =
            if room.is_bold { format!("\x1b[1m{head}\x1b[0m\n") } else { format!("{head}\n") };
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
            text.push('\n');
        }
        text
    }

    /// Returns the width of each column, or `None` if it is left out.
    fn widths(&self, room: TableRoom) -> Vec<Option<usize>> {
        let whole: Vec<_> = (0..self.columns.len()).map(|at| self.widest(at)).collect();
        let least = |at: usize| self.least(at, whole[at]);
        let mut widths: Vec<_> = (0..whole.len()).map(|at| Some(least(at))).collect();
        while total(&widths) > room.columns {
            let Some(last) = self.first_to_go(&widths) else { break };
            widths[last] = None;
        }
        // The remaining width goes to the columns that were cut, in their order.
        let mut spare = room.columns.saturating_sub(total(&widths));
        for (width, whole) in widths.iter_mut().zip(whole) {
            let Some(width) = width else { continue };
            let more = spare.min(whole - *width);
            (*width, spare) = (*width + more, spare - more);
        }
        widths
    }

    fn widest(&self, at: usize) -> usize {
        let widest = self.rows.iter().map(|row| width(&row[at])).max().unwrap_or(0);
        width(self.columns[at].head).max(widest)
    }

    fn least(&self, at: usize, whole: usize) -> usize {
        let column = self.columns[at];
        match column.cut {
            Cut::End(least) | Cut::Start(least) => whole.min(least.max(width(column.head))),
            Cut::Nothing => whole,
        }
    }

    fn first_to_go(&self, widths: &[Option<usize>]) -> Option<usize> {
        let droppable = |at: &usize| widths[*at].is_some() && self.columns[*at].rank > 0;
        (0..widths.len()).filter(droppable).max_by_key(|at| self.columns[*at].rank)
    }

    fn line(&self, cells: &[String], widths: &[Option<usize>]) -> String {
        let columns = cells.iter().zip(widths).zip(&self.columns);
        let padded = columns.filter_map(|((cell, width), column)| {
            width.map(|width| match (column.align, column.cut) {
                (Align::Right, _) => format!("{cell:>width$}"),
                (_, Cut::Start(_)) => fill(&cut_start(cell, width), width),
                (_, Cut::End(_)) => fill(&cut(cell, width), width),
                (_, Cut::Nothing) => fill(cell, width),
            })
        });
        padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    (shown.clone().sum::<usize>() + GAP * shown.count()).saturating_sub(GAP)
}

#[cfg(test)]
mod tests;
