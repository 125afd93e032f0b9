//! Names of slots: how people call the things that the slots of a name stand for.

use alloc::{collections::BTreeSet, string::String, sync::Arc, vec::Vec};
use core::{error, fmt, str::FromStr};

use crate::slots::Slots;

/// A list of names, in an order that means something: the names of a name's slots from slot 0 up,
/// those of a grant's slots, or those that a caller wishes for. Their text form is `GPU-0,GPU-1`. A
/// clone shares the list.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SlotNames(Option<Arc<[String]>>);

/// Why a text or a list is no list of names for slots.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadSlotNames {
    /// There is no name.
    None,
    /// There are too many names.
    TooMany(usize),
    /// A name is empty.
    Empty,
    /// This name is too long.
    TooLong(String),
    /// This name has a comma or a control character, or begins or ends with a space.
    Odd(String),
    /// This name stands there twice.
    Twice(String),
}

impl SlotNames {
    /// The largest number of names.
    pub const MOST: usize = 1000;
    /// The longest name, in bytes.
    pub const LONGEST: usize = 64;

    /// Returns an empty list: the slots of the name are numbers alone.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Makes a list of these names, in this order.
    ///
    /// # Errors
    /// An empty list, more than 1000 names, a name that occurs twice, or a name that is not 1 to 64
    /// bytes of text. A name may have no comma and no control character, and no space at its
    /// beginning or end.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Result<Self, BadSlotNames> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        match names.len() {
            0 => return Err(BadSlotNames::None),
            many if many > Self::MOST => return Err(BadSlotNames::TooMany(many)),
            _ => {}
        }
        let mut seen = BTreeSet::new();
        for name in &names {
            check(name)?;
            if !seen.insert(name.as_str()) {
                return Err(BadSlotNames::Twice(name.clone()));
            }
        }
        Ok(Self::of_list(names))
    }

    fn of_list(names: Vec<String>) -> Self {
        if names.is_empty() { Self::none() } else { Self(Some(names.into())) }
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the number of names.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.list().len()).unwrap_or(u32::MAX)
    }

    /// Returns the names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.list().iter().map(String::as_str)
    }

    /// Returns the name at a place, counted from 0. In the list of a name, the place is the number
    /// of the slot.
    #[must_use]
    pub fn get(&self, at: u32) -> Option<&str> {
        self.list().get(at as usize).map(String::as_str)
    }

    /// Returns the number of the slot with this name.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<u32> {
        let at = self.list().iter().position(|known| known == name)?;
        u32::try_from(at).ok()
    }

    /// Returns the numbers of the slots with these names; `None` if there is no slot for one of
    /// them.
    #[must_use]
    pub fn slots(&self, names: &Self) -> Option<Slots> {
        let mut slots = Slots::none();
        for name in names.iter() {
            let slot = self.slot(name)?;
            slots.insert(slot, slot);
        }
        Some(slots)
    }

    /// Returns the names of this list that another list does not have.
    #[must_use]
    pub fn missing_in(&self, other: &Self) -> Self {
        let is_missing = |name: &&str| other.slot(name).is_none();
        Self::of_list(self.iter().filter(is_missing).map(String::from).collect())
    }

    /// Returns the names of these slots, in ascending order of the slots; no names at all if one of
    /// the slots has no name.
    #[must_use]
    pub fn of(&self, slots: &Slots) -> Self {
        if self.is_empty() || slots.ranges().last().is_none_or(|last| last.1 >= self.count()) {
            return Self::none();
        }
        Self::of_list(slots.iter().filter_map(|slot| self.get(slot)).map(String::from).collect())
    }

    /// Returns whether this list is `other`, perhaps with more names at its end.
    #[must_use]
    pub fn begins_with(&self, other: &Self) -> bool {
        self.list().starts_with(other.list())
    }

    fn list(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }
}

fn check(name: &str) -> Result<(), BadSlotNames> {
    let is_odd = name.contains(',') || name.chars().any(char::is_control) || name.trim() != name;
    match name.len() {
        0 => Err(BadSlotNames::Empty),
        bytes if bytes > SlotNames::LONGEST => Err(BadSlotNames::TooLong(name.into())),
        _ if is_odd => Err(BadSlotNames::Odd(name.into())),
        _ => Ok(()),
    }
}

impl fmt::Display for SlotNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{name}")?;
        }
        Ok(())
    }
}

/// Reads the text form. An empty text is an empty list.
impl FromStr for SlotNames {
    type Err = BadSlotNames;

    fn from_str(text: &str) -> Result<Self, BadSlotNames> {
        if text.is_empty() { Ok(Self::none()) } else { Self::new(text.split(',')) }
    }
}

impl fmt::Display for BadSlotNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no names for slots: say at least one"),
            Self::TooMany(many) => {
                write!(f, "{many} names for slots: at most {} can be kept", SlotNames::MOST)
            }
            Self::Empty => f.write_str("one of the names for slots is empty"),
            Self::TooLong(name) => write!(
                f,
                "the name {name:?} for a slot has {} bytes: at most {} are allowed",
                name.len(),
                SlotNames::LONGEST
            ),
            Self::Odd(name) => write!(
                f,
                "the name {name:?} for a slot: a comma, a control character, or a space at either \
                 end is not allowed"
            ),
            Self::Twice(name) => write!(f, "the name {name:?} is given to two slots"),
        }
    }
}

impl error::Error for BadSlotNames {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn names(text: &str) -> SlotNames {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["a", "GPU-0,GPU-1,board-b", "a board,Brett ü"] {
            assert_eq!(names(text).to_string(), text);
        }
        assert!(names("").is_empty() && SlotNames::none().to_string().is_empty());
    }

    #[test]
    fn names_that_another_list_lacks_are_told_in_their_order() {
        assert_eq!(names("z,b,a").missing_in(&names("a,b")), names("z"));
        assert_eq!(names("z,b").missing_in(&SlotNames::none()), names("z,b"));
        assert_eq!(names("a").missing_in(&names("a,b")), SlotNames::none());
    }

    #[test]
    fn what_is_no_list_of_names_is_said() {
        let long = "x".repeat(65);
        let many = (0..1001).map(|i| i.to_string());
        assert_eq!(SlotNames::new([""; 0]), Err(BadSlotNames::None));
        assert_eq!(SlotNames::new(many), Err(BadSlotNames::TooMany(1001)));
        assert_eq!(SlotNames::new(["a", ""]), Err(BadSlotNames::Empty));
        assert_eq!(SlotNames::new([&long]), Err(BadSlotNames::TooLong(long.clone())));
        for odd in ["a,b", "a\n", "a\u{7f}", " a", "a "] {
            assert_eq!(SlotNames::new([odd]), Err(BadSlotNames::Odd(odd.to_string())));
        }
        assert_eq!(SlotNames::new(["a", "b", "a"]), Err(BadSlotNames::Twice("a".to_string())));
        assert!(SlotNames::new(["x".repeat(64)]).is_ok());
    }

    #[test]
    fn slots_and_names_are_found_by_each_other() {
        let all = names("a,b,c,d");
        assert_eq!(all.of(&"1-2".parse().unwrap()), names("b,c"));
        assert_eq!(all.of(&"3-4".parse().unwrap()), SlotNames::none());
        assert_eq!(all.slots(&names("d,b")).unwrap().to_string(), "1,3");
        assert_eq!(all.slots(&names("d,e")), None);
        assert!(all.begins_with(&names("a,b")) && all.begins_with(&SlotNames::none()));
        assert!(!names("a,b").begins_with(&all) && !all.begins_with(&names("b")));
    }
}
