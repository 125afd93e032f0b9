//! Tables for people: columns aligned, two spaces between them, no lines.

use std::io::{self, IsTerminal};

use super::text::{fill, plain, width};

/// How a column is aligned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table that is being filled.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with as many cells as there are columns. An empty cell is shown as `-`.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let shown =
            |cell: String| if cell.is_empty() { "-".to_owned() } else { plain(&cell).into_owned() };
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    /// The table with its heads, bold if `bold`.
    pub(crate) fn render(&self, bold: bool) -> String {
        let widths = self.widths();
        let heads = self.columns.iter().map(|(head, _)| (*head).to_owned()).collect::<Vec<_>>();
        let head = self.line(&heads, &widths);
        let mut text = if bold { format!("\x1b[1m{head}\x1b[0m\n") } else { format!("{head}\n") };
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |i: usize| self.rows.iter().map(|row| width(&row[i])).max().unwrap_or(0);
        let columns = self.columns.iter().enumerate();
        columns.map(|(i, (head, _))| width(head).max(widest(i))).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded =
            cells.iter().zip(widths).zip(&self.columns).map(
                |((cell, width), column)| match column.1 {
                    Align::Left => fill(cell, *width),
                    Align::Right => format!("{cell:>width$}"),
                },
            );
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }
}

/// Whether heads may be bold: on a terminal, unless `NO_COLOR` is set to something.
pub(crate) fn may_be_bold() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !unwanted && io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
        let mut table =
            Table::new(&[("NAME", Align::Left), ("HELD", Align::Right), ("STATE", Align::Left)]);
        table.row(vec!["a".into(), "1/10".into(), "open".into()]);
        table.row(vec!["longer".into(), "0/1".into(), String::new()]);
        assert_eq!(
            table.render(false),
            "NAME    HELD  STATE\na       1/10  open\nlonger   0/1  -\n"
        );
    }

    #[test]
    fn columns_are_aligned_after_wide_characters() {
        let mut table = Table::new(&[("NAME", Align::Left), ("HELD", Align::Right)]);
        table.row(vec!["構築中".into(), "1/1".into()]);
        table.row(vec!["b".into(), "1/1".into()]);
        assert_eq!(table.render(false), "NAME    HELD\n構築中   1/1\nb        1/1\n");
    }
}
