//! Names. A name is checked once, when it is parsed, and valid from then on.

use alloc::{string::String, sync::Arc};
use core::{fmt, ops::Deref, str::FromStr};

/// The longest name, in bytes of UTF-8.
pub const MAX_NAME_BYTES: usize = 512;

/// The name of a semaphore, a lock or a queue: 1 to 512 bytes of UTF-8 without control characters.
/// Braces, spaces, slashes, quotes and non-Latin text are ordinary. A name is cheap to clone.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name(Arc<str>);

impl Name {
    /// Parses a name.
    ///
    /// # Errors
    /// [`BadName`] says which rule the text breaks.
    pub fn new(text: &str) -> Result<Self, BadName> {
        if text.is_empty() {
            return Err(BadName::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(BadName::TooLong(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(BadName::ControlCharacter);
        }
        Ok(Self(Arc::from(text)))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        Self::new(text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a name.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadName {
    /// The text is empty.
    Empty,
    /// The text has this many bytes.
    TooLong(usize),
    /// The text has a control character in it.
    ControlCharacter,
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a name cannot be empty"),
            Self::TooLong(bytes) => {
                write!(f, "a name has at most {MAX_NAME_BYTES} bytes, this one has {bytes}")
            }
            Self::ControlCharacter => f.write_str("a name cannot have control characters in it"),
        }
    }
}

impl core::error::Error for BadName {}

/// Copies the name into a `String`, for error messages.
impl From<&Name> for String {
    fn from(name: &Name) -> Self {
        Self::from(name.as_str())
    }
}
