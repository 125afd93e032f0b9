//! The terminal: taken, drawn on, and given back as it was.

use std::{fmt::Write as _, io};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::view::{Line, Size};
use crate::{exit::Failure, output::Outlet};

/// The other screen, without a cursor and without lines that go on in the next row.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Of a terminal that does not know its own.
const UNKNOWN: Size = Size { columns: 80, rows: 24 };

/// A terminal in our hands. Its drop gives it back.
pub(super) struct Screen {
    outlet: Outlet,
    /// As it was; `None` while we do not have it, or if stdin is no terminal.
    before: Option<Termios>,
    is_entered: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter() -> Result<Self, Failure> {
        let outlet = Outlet::open(rustix::stdio::stdout(), |_| Vec::new());
        let mut screen = Self { outlet, before: None, is_entered: false };
        screen.reenter()?;
        Ok(screen)
    }

    /// Takes it again. `^C` and `^Z` stay signals.
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
        self.outlet.send(ENTER.into());
        Ok(())
    }

    /// Gives it back.
    pub(super) fn leave(&mut self) {
        if std::mem::take(&mut self.is_entered) {
            self.outlet.send(LEAVE.into());
            self.outlet.part();
        }
        if let Some(before) = self.before.take() {
            // There is nobody to tell; the terminal may be gone.
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

    /// Draws these lines over the ones before. A terminal that takes nothing (`^S`) is left alone.
    pub(super) fn draw(&self, lines: &[Line], bold: bool) {
        if self.outlet.is_idle() {
            self.outlet.send(frame(lines, bold).into_bytes());
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

fn set(to: &Termios) -> io::Result<()> {
    Ok(tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, to)?)
}

fn frame(lines: &[Line], bold: bool) -> String {
    let mut frame = String::from("\x1b[H");
    for (at, line) in lines.iter().enumerate() {
        let end = if at + 1 < lines.len() { "\r\n" } else { "\x1b[J" };
        let (on, off) = match line {
            Line::Head(_) if bold => ("\x1b[1m", "\x1b[0m"),
            Line::Chosen(_) if bold => ("\x1b[7m", "\x1b[0m"),
            _ => ("", ""),
        };
        // Cleared first: after a character in the last column, `K` would take that away.
        let _ = write!(frame, "\x1b[K{on}{}{off}{end}", line.text());
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_starts_at_the_top_and_clears_what_is_left_below() {
        let lines = [Line::Head("a".into()), Line::Chosen("b".into()), Line::Plain("c".into())];
        let bold = "\x1b[H\x1b[K\x1b[1ma\x1b[0m\r\n\x1b[K\x1b[7mb\x1b[0m\r\n\x1b[Kc\x1b[J";
        assert_eq!(frame(&lines, true), bold);
        assert_eq!(frame(&lines, false), "\x1b[H\x1b[Ka\r\n\x1b[Kb\r\n\x1b[Kc\x1b[J");
    }
}
