//! The rig with queues: workers that push, pop and end deliveries, and a checker of their history.

pub mod check;
pub mod end;
pub(crate) mod labour;
mod tale;
#[cfg(test)]
mod tests;
mod verdict;

/// The queue's name.
pub const NAME: &str = "work";
/// How many items of the queue may be in work.
pub const LIMIT: u32 = 5;
/// How many items of a group may be in work.
pub const GROUP_LIMIT: u32 = 1;
