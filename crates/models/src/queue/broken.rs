//! What can be wrong.

/// Which rule was broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Broken {
    /// The ledger contradicts itself.
    Books,
    /// An item is gone that nobody acknowledged or cancelled.
    Lost,
    /// An item is pushed twice, or delivered again though its delivery goes on or it is done.
    Again,
    /// A delivery was ended by somebody else, or before its time.
    Ended,
    /// More items are in work than may be, of all or of a group.
    Limit,
    /// A worker believes in a delivery that the ledger does not have, or that it was told is over.
    Believed,
    /// A number was not greater than all before.
    Number,
    /// A program was told what is not so.
    Answer,
    /// An item was delivered before one that comes first, before it is due, or lost its place.
    Order,
    /// Deliveries were not counted, or an item died with one left, or had one too many.
    Count,
}
