//! The measurements: a file with a line of JSON for each row and peer. A later run replaces the
//! lines that it measures again.

use std::{fs, io, path::PathBuf, process::Command};

use serde::{Deserialize, Serialize};

use crate::{peer::Peer, rows::Row};

/// One peer in one row.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Line {
    pub(crate) row: String,
    pub(crate) who: String,
    pub(crate) version: String,
    /// The figures, and their names.
    pub(crate) figures: Vec<(String, f64)>,
    /// The reason for which there are no figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
    /// The command that measures this line alone.
    pub(crate) command: String,
    /// The measured commit. The fields after it are the server and the machine's load at the time.
    pub(crate) commit: String,
    pub(crate) server: String,
    pub(crate) load: f64,
}

/// All lines, and where they are kept.
pub(crate) struct Report {
    pub(crate) lines: Vec<Line>,
    file: PathBuf,
    commit: String,
    server: String,
}

impl Report {
    /// Opens the file. A missing file counts as empty.
    pub(crate) fn open(file: PathBuf) -> io::Result<Self> {
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let commit = says("git", &["rev-parse", "--short=8", "HEAD"]);
        let server = says("redis-server", &["--version"]);
        let server = server.split_whitespace().find_map(|word| word.strip_prefix("v="));
        let server = server.unwrap_or("none").to_owned();
        Ok(Self { lines, file, commit, server })
    }

    /// Notes the figures of a peer.
    pub(crate) fn of(&mut self, row: &Row, peer: &Peer, figures: &[(&str, f64)]) -> io::Result<()> {
        let command = format!("bench/run --only {} --peers {}", row.name, peer.name);
        self.add(row, (peer.shown, peer.version), figures, None, command)
    }

    /// Notes the figures of a line that is no peer: a yardstick, or Seinpaal in another form.
    pub(crate) fn form(&mut self, row: &Row, who: &str, figures: &[(&str, f64)]) -> io::Result<()> {
        self.add(row, (who, ""), figures, None, format!("bench/run --only {}", row.name))
    }

    /// Notes the reason for which this peer could not be measured.
    pub(crate) fn left_out(
        &mut self,
        row: &Row,
        who: (&str, &str),
        why: &io::Error,
    ) -> io::Result<()> {
        let command = format!("bench/run --only {}", row.name);
        self.add(row, who, &[], Some(why.to_string()), command)
    }

    pub(crate) fn add(
        &mut self,
        row: &Row,
        (who, version): (&str, &str),
        figures: &[(&str, f64)],
        left_out: Option<String>,
        command: String,
    ) -> io::Result<()> {
        // A peer that could not be measured has no number.
        let figures = figures.iter().filter(|(_, of)| of.is_finite());
        let figures: Vec<_> = figures.map(|(what, of)| ((*what).to_owned(), *of)).collect();
        let shown: Vec<_> =
            figures.iter().map(|(what, of)| format!("{what} {}", short(*of))).collect();
        let why = left_out.as_deref().map_or(String::new(), |why| format!("left out: {why}"));
        println!("{:10} {who} {version}: {}{why}", row.name, shown.join("; "));
        let (commit, server) = (self.commit.clone(), self.server.clone());
        let line = Line {
            row: row.name.to_owned(),
            who: who.to_owned(),
            version: version.to_owned(),
            figures,
            left_out,
            command,
            commit,
            server,
            load: load(),
        };
        self.lines.retain(|old| (&old.row, &old.who) != (&line.row, &line.who));
        self.lines.push(line);
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        let lines = self.lines.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        fs::write(&self.file, lines.join("\n") + "\n")
    }
}

/// A number with three significant digits and separated thousands.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        ..0.1 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => grouped(value.round() as i64),
    }
}

fn grouped(number: i64) -> String {
    match number {
        ..1_000 => number.to_string(),
        _ => format!("{} {:03}", grouped(number / 1_000), number % 1_000),
    }
}

/// The load of the machine in the last minute.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

fn says(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    output.map_or(String::new(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
