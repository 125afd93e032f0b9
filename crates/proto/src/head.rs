//! The head of a name and the head of a queue: the facts of each that are not lists.
//!
//! Each head has one list of its fields, written with [`head!`]. The list says of each field its
//! type, its default and its sort. Code that has to know all fields goes through that list: the
//! check for damage, the models' fingerprint, the packed form, the columns of the embedded store,
//! and the layout on Redis.

use alloc::string::String;

use crate::{
    count::MAX_LIMIT,
    id::Inbox,
    kind::Kind,
    recent_holds::RecentHolds,
    slot_names::SlotNames,
    time::{Micros, UNBOUNDED},
};

/// No store has more rows of a kind than this. A larger count means that the record is damaged.
pub(crate) const MOST_ROWS: u32 = 1 << 31;

/// The value of one field of a head, with the sort of the field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Field<'a> {
    /// The kind of lock that a name is.
    Kind(Option<Kind>),
    /// A limit that somebody has set.
    Limit(Option<u32>),
    /// Names for slots; none if the slots have no names.
    Names(&'a SlotNames),
    /// A text, which may be missing.
    Text(Option<&'a str>),
    /// An instant of the ledger's clock.
    LedgerTime(Micros),
    /// An instant of the store's clock.
    StoreTime(Micros),
    /// The instant at which a client will look, on the store's clock. It may lie beyond
    /// [`UNBOUNDED`], which is added to *now*.
    Alarm(Micros),
    /// A number that follows the store's clock and only grows.
    Fence(u64),
    /// A length of time.
    Span(Micros),
    /// A number of permits or slots.
    Permits(u32),
    /// A number of rows that the store keeps beside the head.
    Rows(u32),
    /// A client.
    Client(Option<Inbox>),
    /// The lengths of the last holds.
    Holds(RecentHolds),
}

impl Field<'_> {
    /// Returns whether a ledger can have written the value. A store that reads a record which
    /// others may have damaged must ask.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match *self {
            Self::Kind(_) | Self::Names(_) | Self::Text(_) | Self::Client(_) => true,
            Self::Limit(limit) => limit.is_none_or(|limit| limit <= MAX_LIMIT),
            Self::LedgerTime(time) | Self::StoreTime(time) => time <= UNBOUNDED,
            Self::Fence(time) | Self::Span(time) => time <= UNBOUNDED,
            Self::Alarm(time) => time <= 2 * UNBOUNDED,
            Self::Permits(permits) => permits <= MAX_LIMIT,
            Self::Rows(rows) => rows < MOST_ROWS,
            Self::Holds(recent) => recent.is_sound(),
        }
    }
}

/// Reads the fields of a head, one after the other, in the order of the list. Sorts that are stored
/// alike share a method.
pub trait ReadHead {
    /// Why a field cannot be read.
    type Error;

    /// Reads a [`Field::Kind`].
    fn kind(&mut self) -> Result<Option<Kind>, Self::Error>;
    /// Reads a [`Field::Limit`].
    fn limit(&mut self) -> Result<Option<u32>, Self::Error>;
    /// Reads a [`Field::Names`].
    fn names(&mut self) -> Result<SlotNames, Self::Error>;
    /// Reads a [`Field::Text`].
    fn text(&mut self) -> Result<Option<String>, Self::Error>;
    /// Reads an instant: any field that follows a clock.
    fn instant(&mut self) -> Result<Micros, Self::Error>;
    /// Reads a [`Field::Span`].
    fn span(&mut self) -> Result<Micros, Self::Error>;
    /// Reads a number of permits or rows.
    fn count(&mut self) -> Result<u32, Self::Error>;
    /// Reads a [`Field::Client`].
    fn client(&mut self) -> Result<Option<Inbox>, Self::Error>;
    /// Reads a [`Field::Holds`].
    fn holds(&mut self) -> Result<RecentHolds, Self::Error>;
}

/// Defines a head by the list of its fields: `name: type = default, sort;`. A sort is a variant of
/// [`Field`], written as the method of [`field_of!`]. A condition that relates several fields comes
/// after `if`.
macro_rules! head {
    ($(#[$about:meta])* pub struct Head { $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr, $sort:ident;)* }
        $(if |$head:ident| $fits:expr)?) => {
        $(#[$about])*
        #[derive(Clone, Debug, Eq, PartialEq)]
        pub struct Head {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for Head {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Head {
            const FIELDS: usize = [$(stringify!($field)),*].len();

            /// Returns the name and the value of each field, in the order of the list.
            #[must_use]
            pub fn fields(&self) -> [(&'static str, $crate::Field<'_>); Self::FIELDS] {
                [$((stringify!($field), $crate::head::field_of!($sort, self.$field))),*]
            }

            /// Reads a head, its fields in the order of the list.
            ///
            /// # Errors
            /// The first error that `from` returns.
            pub fn read<R: $crate::ReadHead>(from: &mut R) -> Result<Self, R::Error> {
                Ok(Self { $($field: $crate::head::read_field!($sort, from),)* })
            }

            /// Returns whether the ledger can work with this head. A store that reads a head which
            /// others may have damaged must ask. It must ask about the rows beside the head, too.
            #[must_use]
            pub fn is_sound(&self) -> bool {
                $(let $head = self;
                if !$fits {
                    return false;
                })?
                self.fields().iter().all(|(_, field)| field.is_sound())
            }
        }
    };
}

/// A value as a [`Field`] of its sort.
macro_rules! field_of {
    (kind, $value:expr) => {
        $crate::Field::Kind($value)
    };
    (limit, $value:expr) => {
        $crate::Field::Limit($value)
    };
    (names, $value:expr) => {
        $crate::Field::Names(&$value)
    };
    (text, $value:expr) => {
        $crate::Field::Text($value.as_deref())
    };
    (ledger_time, $value:expr) => {
        $crate::Field::LedgerTime($value)
    };
    (store_time, $value:expr) => {
        $crate::Field::StoreTime($value)
    };
    (alarm, $value:expr) => {
        $crate::Field::Alarm($value)
    };
    (fence, $value:expr) => {
        $crate::Field::Fence($value)
    };
    (span, $value:expr) => {
        $crate::Field::Span($value)
    };
    (permits, $value:expr) => {
        $crate::Field::Permits($value)
    };
    (rows, $value:expr) => {
        $crate::Field::Rows($value)
    };
    (client, $value:expr) => {
        $crate::Field::Client($value)
    };
    (holds, $value:expr) => {
        $crate::Field::Holds($value)
    };
}

/// A value of this sort, read from a [`ReadHead`].
macro_rules! read_field {
    (ledger_time, $from:expr) => {
        $from.instant()?
    };
    (store_time, $from:expr) => {
        $from.instant()?
    };
    (alarm, $from:expr) => {
        $from.instant()?
    };
    (fence, $from:expr) => {
        $from.instant()?
    };
    (permits, $from:expr) => {
        $from.count()?
    };
    (rows, $from:expr) => {
        $from.count()?
    };
    ($sort:ident, $from:expr) => {
        $from.$sort()?
    };
}

pub(crate) use {field_of, head, read_field};
