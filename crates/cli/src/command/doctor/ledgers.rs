//! The contradictions in the stored ledgers, one on each line.

use std::time::Duration;

use seinpaal::{Contradiction, Examination, Seinpaal};
use tokio::time::timeout;

use crate::{
    exit::Failure,
    output::{json, text::age},
};

/// How long the whole examination may take.
const EXAMINATION_TIMEOUT: Duration = Duration::from_secs(30);
/// The most findings that are printed.
const SHOWN: usize = 20;
/// The remedy for a name whose ledger contradicts itself.
const REMEDY: &str = "permits or items may be given twice or not at all: stop its users, then remove it from the store \
                      (docs/guide/operating.md, \"A ledger in disorder\")";

/// The result of the examination.
pub(super) enum Ledgers {
    NotAsked,
    Seen(Examination),
    /// The store keeps a list that cannot be read.
    Unreadable(String),
    Slow,
}

impl Ledgers {
    /// Examines at most this many names and queues.
    pub(super) async fn look(seinpaal: &Seinpaal, most: usize) -> Result<Self, Failure> {
        if most == 0 {
            return Ok(Self::NotAsked);
        }
        match timeout(EXAMINATION_TIMEOUT, seinpaal.examine(most)).await {
            Err(_) => Ok(Self::Slow),
            Ok(Ok(seen)) => Ok(Self::Seen(seen)),
            Ok(Err(error)) if error.is_about_what_is_kept() => {
                Ok(Self::Unreadable(error.to_string()))
            }
            Ok(Err(error)) => Err(error.into()),
        }
    }

    /// Says how many names and queues were examined.
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

    /// Returns the findings, one on each line. If there are too many, the last line says how many
    /// more there are.
    pub(super) fn findings(&self) -> Vec<String> {
        match self {
            Self::NotAsked => Vec::new(),
            Self::Slow => vec![format!(
                "the look at the ledgers took more than {} and was broken off, so what is wrong with them is not known: look at \
                 fewer (--ledgers N), or when the store has less to do",
                age(EXAMINATION_TIMEOUT)
            )],
            Self::Unreadable(text) => vec![format!("the stored names cannot be listed: {text}")],
            Self::Seen(seen) => lines(&seen.contradictions),
        }
    }

    pub(super) fn as_json(&self) -> Option<json::LedgersJson> {
        let seen = match self {
            Self::NotAsked => return None,
            Self::Slow => {
                let unseen = format!("it took more than {}", age(EXAMINATION_TIMEOUT));
                return Some(json::LedgersJson::Unseen { unseen });
            }
            Self::Unreadable(text) => {
                return Some(json::LedgersJson::Unseen { unseen: text.clone() });
            }
            Self::Seen(seen) => seen,
        };
        Some(json::LedgersJson::Seen {
            names: seen.names,
            queues: seen.queues,
            all: !seen.is_cut,
            contradictions: seen.contradictions.len(),
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
