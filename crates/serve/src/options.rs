//! The options of the pages and the HTTP API, and the errors of options.

use std::{fmt, io, path::PathBuf};

use seinpaal::BadName;

use crate::{tally::MOST, tokens::Tokens};

/// The options of the pages and the HTTP API.
#[derive(Clone, Debug)]
pub struct Options {
    /// The prefix of every address, for use behind a proxy: empty, or such as `/locks`. Default:
    /// empty.
    pub base_path: String,
    /// Whether pages and the HTTP API show the beginnings of payloads, and search them. Default:
    /// yes.
    pub payloads: bool,
    /// Whether visitors who may operate can change anything. Default: no.
    pub allow_actions: bool,
    /// Whether programs can take permits and items by HTTP. Default: no. Programs can read in any
    /// case.
    pub api: bool,
    /// The clients to admit. Default: anybody who can reach the port, as
    /// [`Role::Operate`](crate::Role::Operate).
    pub tokens: Option<Tokens>,
    /// Host names under which the pages are reached, without the port. The names of the loopback
    /// always work. A request that names another host is refused. Otherwise a foreign page could
    /// read these pages through its visitor's browser.
    pub hosts: Vec<String>,
    /// A file to which each change is appended as a line of JSON. Default: none.
    pub audit: Option<PathBuf>,
    /// How many pages may be kept up to date at once, together with requests of programs that wait
    /// or hold. Default: 1000.
    pub streams: usize,
    /// Names whose waits, holds and losses are counted for `/metrics`, at most 100. Each is read
    /// once a second, from the first scrape on. Default: none.
    pub metrics_of: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base_path: String::new(),
            payloads: true,
            allow_actions: false,
            api: false,
            tokens: None,
            hosts: Vec::new(),
            audit: None,
            streams: 1000,
            metrics_of: Vec::new(),
        }
    }
}

/// An option that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadOption {
    /// The base path is not `/` and letters, digits, `-`, `_`, `.`, or `/`.
    BasePath(String),
    /// The file for the audit cannot be opened.
    Audit(PathBuf, io::Error),
    /// A name in `metrics_of` is no valid name.
    Name(String, BadName),
    /// The options ask to count this many names, which is more than allowed.
    MetricsOf(usize),
    /// The system has no random numbers.
    Random,
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BasePath(path) => write!(
                f,
                "{path:?} is no base path: it begins with / and does not end with one, like /locks"
            ),
            Self::Audit(path, error) => {
                write!(f, "cannot append to {}: {error}; is its directory there?", path.display())
            }
            Self::Name(name, error) => write!(f, "{name:?} is not a name: {error}"),
            Self::MetricsOf(names) => {
                write!(f, "metrics of {names} names: at most {MOST} can be counted one by one")
            }
            Self::Random => f.write_str("the system has no random numbers"),
        }
    }
}

impl std::error::Error for BadOption {}
