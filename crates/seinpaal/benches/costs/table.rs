//! The printed table, and whether its bounds were kept.

use std::{io::Write, process::ExitCode, time::Duration};

/// The bound of a count.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    Exactly(f64),
    AtMost(f64),
    Below(f64),
}

impl Bound {
    fn is_kept(self, value: f64) -> bool {
        match self {
            Self::Exactly(bound) => (value - bound).abs() < 0.005,
            Self::AtMost(bound) => value <= bound,
            Self::Below(bound) => value < bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Exactly(bound) => format!("must be {bound}"),
            Self::AtMost(bound) => format!("must be at most {bound}"),
            Self::Below(bound) => format!("must be below {bound}"),
        }
    }
}

/// Prints rows as they are measured.
pub(crate) struct Table {
    missed: u32,
}

impl Table {
    pub(crate) fn new() -> Self {
        println!("| what | figure | bound | peers |\n|---|---|---|---|");
        Self { missed: 0 }
    }

    /// A count with a bound.
    pub(crate) fn count(&mut self, what: &str, value: f64, bound: Bound, peers: &str) {
        let is_kept = bound.is_kept(value);
        self.missed += u32::from(!is_kept);
        let verdict = if is_kept { "" } else { " MISSED" };
        let figure = if value.fract() == 0.0 { value.to_string() } else { format!("{value:.2}") };
        line(what, &figure, &format!("{}{verdict}", bound.text()), peers);
    }

    /// A figure for reading only.
    pub(crate) fn figure(&self, what: &str, figure: &str, peers: &str) {
        line(what, figure, "", peers);
    }

    pub(crate) fn verdict(&self) -> ExitCode {
        if self.missed == 0 {
            return ExitCode::SUCCESS;
        }
        eprintln!("{} bounds were missed: look for MISSED in the table", self.missed);
        ExitCode::FAILURE
    }
}

fn line(what: &str, figure: &str, bound: &str, peers: &str) {
    println!("| {what} | {figure} | {bound} | {peers} |");
    let _ = std::io::stdout().flush();
}

/// A time as people read it.
pub(crate) fn text(time: Duration) -> String {
    match time.as_micros() {
        0..1_000 => format!("{} µs", time.as_micros()),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// The value below which the share `part` of the times lies.
pub(crate) fn quantile(times: &mut [Duration], part: f64) -> Duration {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    let at = (last as f64 * part).round() as usize;
    times.get(at).copied().unwrap_or_default()
}
