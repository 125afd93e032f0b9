//! The terminal. The program takes it, draws on it, and gives it back unchanged.

use std::{fmt::Write as _, io};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::view::{Size, ViewLine};
use crate::{exit::Failure, output::Outlet};

/// These switch to the other screen and back. On it there is no cursor, and no line goes on in the
/// next row.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// The size of a terminal that does not know its own.
const UNKNOWN: Size = Size { columns: 80, rows: 24 };

/// The number of frames after which the whole screen is drawn again, in case another program has
/// written to the terminal.
const WHOLE_AFTER: u32 = 30;
/// A terminal that knows these sequences shows a frame only when it is complete. Others ignore
/// them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// The terminal while this program has it. Dropping this value gives it back.
pub(super) struct TopScreen {
    outlet: Outlet,
    drawn: Drawn,
    /// The former settings of the terminal. `None` while we do not have the terminal, or if stdin
    /// is no terminal.
    before: Option<Termios>,
    is_entered: bool,
}

impl TopScreen {
    /// Takes the terminal.
    pub(super) fn enter() -> Result<Self, Failure> {
        let outlet = Outlet::open(rustix::stdio::stdout(), |_| Vec::new());
        let mut screen = Self { outlet, drawn: Drawn::default(), before: None, is_entered: false };
        screen.reenter()?;
        Ok(screen)
    }

    /// Takes the terminal again. `^C` and `^Z` stay signals.
    pub(super) fn reenter(&mut self) -> Result<(), Failure> {
        if let Ok(before) = tcgetattr(rustix::stdio::stdin()) {
            let mut ours = before.clone();
            ours.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            set(&ours).map_err(|error| {
                Failure::internal(format!("cannot set up the terminal: {error}; try `top --once`"))
            })?;
            self.before = Some(before);
        }
        self.is_entered = true;
        self.drawn = Drawn::default();
        self.outlet.send(ENTER.into());
        Ok(())
    }

    /// Gives the terminal back.
    pub(super) fn leave(&mut self) {
        if std::mem::take(&mut self.is_entered) {
            self.outlet.send(LEAVE.into());
            self.outlet.part();
        }
        if let Some(before) = self.before.take() {
            // An error here cannot be reported, because the terminal may be gone.
            let _ = set(&before);
        }
    }

    pub(super) fn size(&self) -> Size {
        let size = tcgetwinsize(rustix::stdio::stdout()).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(UNKNOWN, |size| Size {
            columns: usize::from(size.ws_col),
            rows: usize::from(size.ws_row),
        })
    }

    /// Draws the rows that have changed. A terminal that accepts nothing (`^S`) is skipped.
    pub(super) fn draw(&mut self, lines: &[ViewLine], bold: bool) {
        if self.outlet.is_idle() {
            let frame = self.drawn.frame(lines, self.size(), bold);
            if !frame.is_empty() {
                self.outlet.send(frame.into_bytes());
            }
        }
    }
}

impl Drop for TopScreen {
    fn drop(&mut self) {
        self.leave();
    }
}

fn set(to: &Termios) -> io::Result<()> {
    Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, to)?)
}

/// The rows that the terminal shows.
#[derive(Default)]
struct Drawn {
    rows: Vec<String>,
    size: Option<Size>,
    frames: u32,
}

impl Drawn {
    /// Returns the output that makes the terminal show these lines: the rows that differ from the
    /// shown ones.
    fn frame(&mut self, lines: &[ViewLine], size: Size, bold: bool) -> String {
        let is_whole = self.size != Some(size) || self.frames >= WHOLE_AFTER;
        self.frames = if is_whole { 0 } else { self.frames + 1 };
        let rows: Vec<_> = lines.iter().map(|line| row(line, bold)).collect();
        let mut frame = String::new();
        for (at, row) in rows.iter().enumerate() {
            if is_whole || self.rows.get(at) != Some(row) {
                // The row is cleared first. After a character in the last column, `K` would erase
                // that character.
                let _ = write!(frame, "\x1b[{};1H\x1b[K{row}", at + 1);
            }
        }
        if (is_whole || rows.len() < self.rows.len()) && rows.len() < size.rows {
            let _ = write!(frame, "\x1b[{};1H\x1b[J", rows.len() + 1);
        }
        (self.rows, self.size) = (rows, Some(size));
        if frame.is_empty() { frame } else { format!("{BEGIN}{frame}{END}") }
    }
}

fn row(line: &ViewLine, bold: bool) -> String {
    let (on, off) = match line {
        ViewLine::Head(_) if bold => ("\x1b[1m", "\x1b[0m"),
        ViewLine::Chosen(_) if bold => ("\x1b[7m", "\x1b[0m"),
        _ => ("", ""),
    };
    format!("{on}{}{off}", line.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 80, rows: 24 };

    fn lines(last: &str) -> [ViewLine; 3] {
        [ViewLine::Head("a".into()), ViewLine::Chosen("b".into()), ViewLine::Plain(last.into())]
    }

    fn shown(frame: &str) -> String {
        frame.replace(BEGIN, "").replace(END, "")
    }

    #[test]
    fn the_first_frame_is_whole_and_clears_the_rest_of_the_screen() {
        let frame = Drawn::default().frame(&lines("c"), SIZE, true);
        let bold = "\x1b[1;1H\x1b[K\x1b[1ma\x1b[0m\x1b[2;1H\x1b[K\x1b[7mb\x1b[0m\x1b[3;1H\x1b[Kc\x1b[4;1H\x1b[J";
        assert_eq!(shown(&frame), bold);
        let frame = Drawn::default().frame(&lines("c"), SIZE, false);
        assert_eq!(
            shown(&frame),
            "\x1b[1;1H\x1b[Ka\x1b[2;1H\x1b[Kb\x1b[3;1H\x1b[Kc\x1b[4;1H\x1b[J"
        );
    }

    #[test]
    fn a_later_frame_has_only_the_rows_that_changed() {
        let mut drawn = Drawn::default();
        drawn.frame(&lines("c"), SIZE, true);
        assert_eq!(drawn.frame(&lines("c"), SIZE, true), "");
        assert_eq!(shown(&drawn.frame(&lines("d"), SIZE, true)), "\x1b[3;1H\x1b[Kd");
        let fewer = &lines("d")[..2];
        assert_eq!(shown(&drawn.frame(fewer, SIZE, true)), "\x1b[3;1H\x1b[J");
    }

    #[test]
    fn all_is_drawn_again_in_another_size_and_now_and_then() {
        let mut drawn = Drawn::default();
        let whole = drawn.frame(&lines("c"), SIZE, true);
        let frames = (0..=WHOLE_AFTER).map(|_| drawn.frame(&lines("c"), SIZE, true));
        let frames: Vec<_> = frames.collect();
        assert_eq!(frames.iter().filter(|frame| !frame.is_empty()).collect::<Vec<_>>(), [&whole]);
        let narrow = Size { columns: 40, rows: 24 };
        assert_eq!(drawn.frame(&lines("c"), narrow, true), whole);
    }
}
