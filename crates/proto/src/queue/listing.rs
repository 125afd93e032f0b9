//! The place of an item among those of its state, by which lists are read page by page.

use core::{fmt, str::FromStr};

use super::item::{Item, ItemId, Standing};
use crate::{
    name::Name,
    time::{Micros, UNBOUNDED},
};

/// The state of an item, as people name it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ItemState {
    /// The item can be delivered, now or when its group has room.
    Ready,
    /// The item is not due yet.
    Delayed,
    /// A worker has the item.
    InWork,
    /// The item has had all its deliveries.
    Dead,
}

impl ItemState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Ready, Self::Delayed, Self::InWork, Self::Dead];

    /// Returns the word of the state: `ready`, `delayed`, `in-work` or `dead`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Delayed => "delayed",
            Self::InWork => "in-work",
            Self::Dead => "dead",
        }
    }
}

impl Standing {
    /// Returns the state, as people name it.
    #[must_use]
    pub fn state(&self) -> ItemState {
        match self {
            Self::Ready { .. } => ItemState::Ready,
            Self::Delayed { .. } => ItemState::Delayed,
            Self::InWork(_) => ItemState::InWork,
            Self::Dead { .. } => ItemState::Dead,
        }
    }
}

impl fmt::Display for ItemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that is no state of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadItemState;

impl fmt::Display for BadItemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state is ready, delayed, in-work or dead")
    }
}

impl core::error::Error for BadItemState {}

impl FromStr for ItemState {
    type Err = BadItemState;

    fn from_str(word: &str) -> Result<Self, BadItemState> {
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or(BadItemState)
    }
}

/// A place in one of the orders in which a store keeps items. A page lists the items behind it.
///
/// The ready items of groups are listed first, one group after the other. The items without a group
/// follow, in the order of service.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ItemPosition {
    /// A place in the order of all, by rank and number. Items without a group are listed from it.
    Open(i64, ItemId),
    /// A place among the ready items of groups, by group, rank and number. Without a group: before
    /// the first one.
    Grouped(Option<Name>, i64, ItemId),
    /// A place by the time at which items are due, and number.
    Delayed(Micros, ItemId),
    /// A place by the end of leases on the ledger's clock, and number.
    InWork(Micros, ItemId),
    /// A place by number.
    Dead(ItemId),
}

impl ItemPosition {
    /// Returns the place before all items of this state.
    #[must_use]
    pub fn before(state: ItemState) -> Self {
        let none = ItemId(0);
        match state {
            ItemState::Ready => Self::Grouped(None, 0, none),
            ItemState::Delayed => Self::Delayed(0, none),
            ItemState::InWork => Self::InWork(0, none),
            ItemState::Dead => Self::Dead(none),
        }
    }

    /// Returns the place before all ready items without a group.
    #[must_use]
    pub fn before_open() -> Self {
        Self::Open(-(UNBOUNDED as i64), ItemId(0))
    }

    /// Returns the item's place in the order of the list in which it was found.
    pub(super) fn of(item: &Item, is_grouped: bool) -> Self {
        match &item.standing {
            Standing::Ready { .. } if is_grouped => {
                Self::Grouped(item.group.clone(), item.rank, item.id)
            }
            Standing::Ready { .. } => Self::Open(item.rank, item.id),
            Standing::Delayed { due } => Self::Delayed(*due, item.id),
            Standing::InWork(work) => Self::InWork(work.ends, item.id),
            Standing::Dead { .. } => Self::Dead(item.id),
        }
    }

    /// Returns the state whose items the place is among.
    #[must_use]
    pub fn state(&self) -> ItemState {
        match self {
            Self::Open(..) | Self::Grouped(..) => ItemState::Ready,
            Self::Delayed(..) => ItemState::Delayed,
            Self::InWork(..) => ItemState::InWork,
            Self::Dead(_) => ItemState::Dead,
        }
    }
}

/// Writes `LETTER:KEY:NUMBER:GROUP`, where the letter stands for the order.
impl fmt::Display for ItemPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(rank, id) => write!(f, "o:{rank}:{id}:"),
            Self::Grouped(group, rank, id) => {
                write!(f, "g:{rank}:{id}:{}", group.as_deref().unwrap_or_default())
            }
            Self::Delayed(due, id) => write!(f, "d:{due}:{id}:"),
            Self::InWork(ends, id) => write!(f, "e:{ends}:{id}:"),
            Self::Dead(id) => write!(f, "x:0:{id}:"),
        }
    }
}

/// A text that is no place in a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadItemPosition;

impl fmt::Display for BadItemPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a place in a list of items: it must be one that a page before gave")
    }
}

impl core::error::Error for BadItemPosition {}

impl FromStr for ItemPosition {
    type Err = BadItemPosition;

    fn from_str(text: &str) -> Result<Self, BadItemPosition> {
        let mut parts = text.splitn(4, ':');
        let mut next = || parts.next().ok_or(BadItemPosition);
        let (letter, key, id, group) = (next()?, next()?, next()?, next()?);
        let (key, id) = (exact(key)?, ItemId(exact(id)?.try_into().map_err(|_| BadItemPosition)?));
        let time = || Micros::try_from(key).map_err(|_| BadItemPosition);
        let group = match group {
            "" => None,
            group => Some(Name::new(group).map_err(|_| BadItemPosition)?),
        };
        let place = match letter {
            "g" => return Ok(Self::Grouped(group, key, id)),
            "o" => Self::Open(key, id),
            "d" => Self::Delayed(time()?, id),
            "e" => Self::InWork(time()?, id),
            "x" => Self::Dead(id),
            _ => return Err(BadItemPosition),
        };
        if group.is_none() { Ok(place) } else { Err(BadItemPosition) }
    }
}

/// Reads a number that every store can keep.
fn exact(text: &str) -> Result<i64, BadItemPosition> {
    let number = text.parse::<i64>().map_err(|_| BadItemPosition)?;
    if number.unsigned_abs() <= UNBOUNDED { Ok(number) } else { Err(BadItemPosition) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{
        format,
        string::{String, ToString},
    };

    #[test]
    fn a_place_comes_back_from_its_text() {
        let (id, group) = (ItemId(7), Name::new("a:b 号").unwrap());
        for place in ItemState::ALL.map(ItemPosition::before).into_iter().chain([
            ItemPosition::before_open(),
            ItemPosition::Open(-5, id),
            ItemPosition::Grouped(Some(group), -5, id),
            ItemPosition::Delayed(5, id),
            ItemPosition::InWork(5, id),
            ItemPosition::Dead(id),
        ]) {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let most = format!("o:{}:1:", UNBOUNDED + 1);
        let long = format!("g:1:1:{}", String::from_utf8([b'x'; 513].to_vec()).unwrap());
        for text in [
            "", "o", "o:1", "o:1:2", "q:1:2:", "d:-1:2:", "o:1:-2:", "o:1:2:g", "x:0:z:", &most,
            &long,
        ] {
            assert_eq!(text.parse::<ItemPosition>(), Err(BadItemPosition), "{text:?}");
        }
    }

    #[test]
    fn a_state_comes_back_from_its_word() {
        for state in ItemState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        assert_eq!("work".parse::<ItemState>(), Err(BadItemState));
    }
}
