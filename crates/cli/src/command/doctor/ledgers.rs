//! What the stored ledgers say against themselves, in a line each.

use std::time::Duration;

use seinpaal::{Contradiction, Examination, Seinpaal};
use tokio::time::timeout;

use crate::{
    exit::Failure,
    output::{json, text::age},
};

/// How long looking may take altogether.
const EXAMINATION_TIMEOUT: Duration = Duration::from_secs(30);
/// The most findings that are printed.
const SHOWN: usize = 20;
/// What to do about a name that says one thing here and another there.
const REMEDY: &str = "permits or items may be given twice or not at all: stop who uses it, then remove it from the store \
                      (docs/guide/operating.md, \"A ledger in disorder\")";

/// What came of looking.
pub(super) enum Ledgers {
    NotAsked,
    Seen(Examination),
    /// The store keeps a list that cannot be read.
    Unreadable(String),
    Slow,
}

impl Ledgers {
    /// Looks at so many at most.
    pub(super) async fn look(seinpaal: &Seinpaal, most: usize) -> Result<Self, Failure> {
        // Also where none is wanted: stores of several servers look at each of them then.
        match timeout(EXAMINATION_TIMEOUT, seinpaal.examine(most)).await {
            Err(_) => Ok(Self::Slow),
            Ok(Ok(_)) if most == 0 => Ok(Self::NotAsked),
            Ok(Ok(seen)) => Ok(Self::Seen(seen)),
            Ok(Err(error)) if error.is_about_what_is_kept() => {
                Ok(Self::Unreadable(error.to_string()))
            }
            Ok(Err(error)) => Err(error.into()),
        }
    }

    /// How many were looked at.
    pub(super) fn fact(&self) -> String {
        match self {
            Self::NotAsked => "not looked at".to_owned(),
            Self::Slow => format!("not looked at: it took more than {}", age(EXAMINATION_TIMEOUT)),
            Self::Unreadable(_) => "cannot be listed".to_owned(),
            Self::Seen(seen) => {
                let more = if seen.is_cut { "; there are more (--ledgers N)" } else { "" };
                let (names, queues) = (counted(seen.names, "name"), counted(seen.queues, "queue"));
                format!("{names} and {queues} looked at{more}")
            }
        }
    }

    /// A line each; the last says how many more there are.
    pub(super) fn findings(&self) -> Vec<String> {
        match self {
            Self::NotAsked | Self::Slow => Vec::new(),
            Self::Unreadable(text) => vec![format!("the stored names cannot be listed: {text}")],
            Self::Seen(seen) => lines(&seen.contradictions),
        }
    }

    pub(super) fn as_json(&self) -> Option<json::LedgersJson> {
        let Self::Seen(seen) = self else { return None };
        let contradictions = seen.contradictions.len();
        Some(json::LedgersJson {
            names: seen.names,
            queues: seen.queues,
            all: !seen.is_cut,
            contradictions,
        })
    }
}

fn lines(found: &[Contradiction]) -> Vec<String> {
    let mut lines: Vec<_> = found.iter().take(SHOWN).map(|it| format!("{it}; {REMEDY}")).collect();
    if found.len() > SHOWN {
        lines.push(format!("{} more findings of this kind", found.len() - SHOWN));
    }
    lines
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
