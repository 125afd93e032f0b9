//! The rules that a step can break.

/// The rule that was broken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Broken {
    /// The ledger contradicts itself, or has an item that nobody has pushed like that.
    Books,
    /// An item is gone although nobody has acknowledged or cancelled it.
    Lost,
    /// An item is pushed twice, or delivered again although its delivery goes on or the item is
    /// done.
    Again,
    /// A delivery was ended by another client, or before its time.
    Ended,
    /// More items are in work than the limit of all items or of a group allows.
    Limit,
    /// A worker believes in a delivery that the ledger does not have, or that it was told has
    /// ended.
    Believed,
    /// A number was not greater than all earlier ones.
    Number,
    /// A program was told something untrue.
    Answer,
    /// An item was delivered before one that comes first, or before it is due, or lost its place.
    Order,
    /// Deliveries were not counted, or an item died with one left, or had one too many.
    Count,
}
