//! The ways in which a job may end, and what it may print.

use serde::{Deserialize, Serialize};

/// The status of a run that got no permit.
pub const BUSY: i32 = 75;
/// The status of a run whose lease was lost, and whose CMD was stopped.
pub const LOST: i32 = 122;
/// The status of a run whose store does not answer.
pub const UNREACHABLE: i32 = 69;
/// The status of a conflict in the configuration.
pub const CONFLICT: i32 = 78;

/// One way in which a job may end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PossibleEnd {
    /// The exit status; 128+n for signal n.
    pub status: i32,
    /// All of stdout. `None` allows anything.
    pub out: Option<String>,
    /// The text that stderr must have.
    pub err: SaidByJob,
}

/// The text that a job may print on stderr.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum SaidByJob {
    /// Nothing at all.
    Nothing,
    /// One line of the program, with each of these texts in it. A `|` stands between alternatives.
    Line(Vec<String>),
    /// Any number of lines of the program, each with all of these texts in it.
    Lines(Vec<String>),
    /// Anything: the job was killed, or stderr is the screen of a terminal.
    Anything,
}

impl PossibleEnd {
    /// Makes the end of a job that passes on CMD's own status and output, without a line of the
    /// program.
    #[must_use]
    pub fn own(status: i32, out: &str) -> Self {
        Self { status, out: Some(out.to_owned()), err: SaidByJob::Nothing }
    }

    /// Makes an end with this status, any stdout, and an empty stderr.
    #[must_use]
    pub fn quiet(status: i32) -> Self {
        Self { status, out: None, err: SaidByJob::Nothing }
    }

    /// Makes an end that is not CMD's own. The program prints one line with all these words about
    /// it.
    #[must_use]
    pub fn told(status: i32, words: &[&str]) -> Self {
        let words = words.iter().map(ToString::to_string).collect();
        Self { status, out: None, err: SaidByJob::Line(words) }
    }

    /// Makes an end with this status, and any number of lines with all these words.
    #[must_use]
    pub fn lines(status: i32, words: &[&str]) -> Self {
        let words = words.iter().map(ToString::to_string).collect();
        Self { status, out: None, err: SaidByJob::Lines(words) }
    }

    /// Makes an end with this status and any output: after a kill, or on a terminal, the output
    /// cannot be predicted.
    #[must_use]
    pub fn anyhow(status: i32) -> Self {
        Self { status, out: None, err: SaidByJob::Anything }
    }

    /// Makes the end of a run that found the name busy, or whose wait was over.
    #[must_use]
    pub fn busy(name: &str) -> Self {
        Self::told(BUSY, &[name, "busy|timed out|wait already"])
    }

    /// Makes the end of a run whose lease was lost, and whose CMD was stopped.
    #[must_use]
    pub fn lost(name: &str) -> Self {
        Self::told(LOST, &[name, "lease|lost", "ttl"])
    }

    /// Makes the end of a script whose store does not answer. Each of its calls says so.
    #[must_use]
    pub fn unreachable_again() -> Self {
        Self::lines(UNREACHABLE, &["answer|reach|connect|listens"])
    }

    /// Makes the end of a call whose store does not answer.
    #[must_use]
    pub fn unreachable() -> Self {
        Self::told(UNREACHABLE, &["answer|reach|connect|listens"])
    }
}

impl SaidByJob {
    /// Returns whether this text on stderr is allowed.
    #[must_use]
    pub fn fits(&self, said: &str) -> bool {
        let is_ours = |line: &str| line.starts_with("seinpaal: ");
        let has = |line: &str, words: &[String]| {
            words.iter().all(|word| word.split('|').any(|either| line.contains(either)))
        };
        match self {
            Self::Anything => true,
            Self::Nothing => said.is_empty(),
            Self::Line(words) => {
                let one = said.strip_suffix('\n').filter(|line| !line.contains('\n'));
                one.is_some_and(|line| is_ours(line) && has(line, words))
            }
            Self::Lines(words) => said.lines().all(|line| is_ours(line) && has(line, words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_with_its_words_fits_and_two_lines_or_none_do_not() {
        let SaidByJob::Line(words) = PossibleEnd::busy("gpus").err else { unreachable!() };
        let line = SaidByJob::Line(words);
        assert!(line.fits("seinpaal: gpus: busy: held by 4711@build3 for 2h00m; leave out -n\n"));
        for said in ["", "seinpaal: gpus: busy", "gpus: busy\n", "seinpaal: gpus: lost\n"] {
            assert!(!line.fits(said), "{said}");
        }
        assert!(!line.fits("seinpaal: gpus: busy\nseinpaal: gpus: busy\n"));
    }

    #[test]
    fn nothing_is_nothing_and_lines_may_be_none() {
        assert!(SaidByJob::Nothing.fits("") && !SaidByJob::Nothing.fits("\n"));
        let lines = SaidByJob::Lines(vec!["dead".into()]);
        assert!(lines.fits("") && lines.fits("seinpaal: a is dead\nseinpaal: b is dead\n"));
        assert!(!lines.fits("seinpaal: a is dead\nwhat?\n"));
    }
}
