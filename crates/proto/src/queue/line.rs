//! The answers to a session's last batch as lines of text, which stores keep.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use super::{
    item::{Delivery, ItemId},
    reply::{Popped, Reply},
};
use crate::{count::Priority, id::Fence, time::Micros};

/// The error for a text that is no answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadReplyLine;

impl fmt::Display for BadReplyLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an answer of a queue")
    }
}

impl core::error::Error for BadReplyLine {}

impl Delivery {
    fn to_text(self) -> String {
        format!("{}:{}", self.id, self.fence)
    }

    fn from_text(text: &str) -> Result<Self, BadReplyLine> {
        let (id, fence) = text.split_once(':').ok_or(BadReplyLine)?;
        Ok(Self { id: ItemId(number(id)?), fence: Fence(number(fence)?) })
    }
}

impl Reply {
    /// Returns the part of an answer that the store keeps in order to repeat it. Of items it keeps
    /// the deliveries, since the rest can be read again. Of an answer to a read request it keeps
    /// nothing.
    #[must_use]
    pub fn without_payload(&self) -> Self {
        match self {
            Self::Popped { items, .. } => {
                let items = items.iter().map(|popped| Popped::bare(popped.delivery)).collect();
                Self::Popped { items, valid_for: None, left: 0 }
            }
            Self::Snapshot(_) | Self::Items { .. } => Self::Left,
            reply => reply.clone(),
        }
    }

    /// Returns the line of an answer [without payload](Self::without_payload).
    #[must_use]
    pub fn to_line(&self) -> String {
        match self {
            Self::Pushed { id } => format!("pushed {id}"),
            Self::Duplicate { id } => format!("duplicate {id}"),
            Self::Popped { items, .. } => {
                let items: Vec<_> = items.iter().map(|item| item.delivery.to_text()).collect();
                format!("popped {}", items.join(","))
            }
            Self::Renewed { valid_for, lost } => {
                let lost: Vec<_> = lost.iter().map(|lost| lost.to_text()).collect();
                format!("renewed {} {}", optional(*valid_for), lost.join(","))
            }
            Self::Acknowledged { id } => format!("acknowledged {id}"),
            Self::Returned { id } => format!("returned {id}"),
            Self::Died { id } => format!("died {id}"),
            Self::Lost { id } => format!("lost {id}"),
            Self::Cancelled { id, was } => format!("cancelled {id} {}", was.word()),
            Self::Unknown { id } => format!("unknown {id}"),
            Self::Replayed { id } => format!("replayed {id}"),
            Self::Dropped { id } => format!("dropped {id}"),
            Self::Purged { removed, more } => format!("purged {removed} {}", u8::from(*more)),
            Self::Configured { limit, group_limit } => {
                let number = |limit: &Option<u32>| optional(limit.map(Micros::from));
                format!("configured {} {}", number(limit), number(group_limit))
            }
            Self::Late => "late".into(),
            Self::Left | Self::Snapshot(_) | Self::Items { .. } => "left".into(),
        }
    }

    /// Reads a line of [`Reply::to_line`].
    ///
    /// # Errors
    /// [`BadReplyLine`] if it is no such line.
    pub fn from_line(line: &str) -> Result<Self, BadReplyLine> {
        let mut words = line.split(' ');
        let mut next = || words.next().ok_or(BadReplyLine);
        match next()? {
            "late" => Ok(Self::Late),
            "left" => Ok(Self::Left),
            "popped" => {
                let items = deliveries(next()?)?.into_iter().map(Popped::bare).collect();
                Ok(Self::Popped { items, valid_for: None, left: 0 })
            }
            "renewed" => {
                Ok(Self::Renewed { valid_for: maybe(next()?)?, lost: deliveries(next()?)? })
            }
            "cancelled" => Ok(Self::Cancelled {
                id: ItemId(number(next()?)?),
                was: next()?.parse().map_err(|_| BadReplyLine)?,
            }),
            "purged" => Ok(Self::Purged { removed: small(next()?)?, more: next()? == "1" }),
            "configured" => {
                let mut limit = || maybe(next()?)?.map(narrow).transpose();
                Ok(Self::Configured { limit: limit()?, group_limit: limit()? })
            }
            word => about_item(word, ItemId(number(next()?)?)),
        }
    }
}

fn about_item(word: &str, id: ItemId) -> Result<Reply, BadReplyLine> {
    Ok(match word {
        "pushed" => Reply::Pushed { id },
        "duplicate" => Reply::Duplicate { id },
        "acknowledged" => Reply::Acknowledged { id },
        "returned" => Reply::Returned { id },
        "died" => Reply::Died { id },
        "lost" => Reply::Lost { id },
        "unknown" => Reply::Unknown { id },
        "replayed" => Reply::Replayed { id },
        "dropped" => Reply::Dropped { id },
        _ => return Err(BadReplyLine),
    })
}

impl Popped {
    /// Makes an item of which only the delivery is known.
    fn bare(delivery: Delivery) -> Self {
        Self {
            delivery,
            attempt: 0,
            most: 0,
            priority: Priority::default(),
            group: None,
            about: String::new(),
            pushed: 0,
            payload: Vec::new(),
        }
    }
}

fn deliveries(text: &str) -> Result<Vec<Delivery>, BadReplyLine> {
    text.split(',').filter(|text| !text.is_empty()).map(Delivery::from_text).collect()
}

fn optional(number: Option<Micros>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

fn maybe(text: &str) -> Result<Option<u64>, BadReplyLine> {
    if text == "-" { Ok(None) } else { number(text).map(Some) }
}

fn number(text: &str) -> Result<u64, BadReplyLine> {
    text.parse().map_err(|_| BadReplyLine)
}

fn small(text: &str) -> Result<u32, BadReplyLine> {
    narrow(number(text)?)
}

fn narrow(number: u64) -> Result<u32, BadReplyLine> {
    u32::try_from(number).map_err(|_| BadReplyLine)
}

#[cfg(test)]
mod tests {
    use super::{super::listing::ItemState, *};

    #[test]
    fn what_is_kept_of_an_answer_comes_back_from_its_line() {
        let (id, fence) = (ItemId(5), Fence(9));
        let delivery = Delivery { id, fence };
        let popped = |items| Reply::Popped { items, valid_for: None, left: 0 };
        let kept = [
            Reply::Pushed { id },
            Reply::Duplicate { id },
            popped(Vec::new()),
            popped([delivery, delivery].map(Popped::bare).to_vec()),
            Reply::Renewed { valid_for: None, lost: Vec::new() },
            Reply::Renewed { valid_for: Some(7), lost: [delivery].to_vec() },
            Reply::Acknowledged { id },
            Reply::Returned { id },
            Reply::Died { id },
            Reply::Lost { id },
            Reply::Left,
            Reply::Cancelled { id, was: ItemState::InWork },
            Reply::Unknown { id },
            Reply::Replayed { id },
            Reply::Dropped { id },
            Reply::Purged { removed: 128, more: true },
            Reply::Configured { limit: Some(3), group_limit: None },
            Reply::Late,
        ];
        for reply in kept {
            assert_eq!(Reply::from_line(&reply.to_line()), Ok(reply.clone()), "{reply:?}");
            assert_eq!(reply.without_payload(), reply);
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for line in ["", "pushed", "pushed x", "popped", "popped 1", "cancelled 1 x", "ate 1"] {
            assert_eq!(Reply::from_line(line), Err(BadReplyLine), "{line:?}");
        }
    }
}
