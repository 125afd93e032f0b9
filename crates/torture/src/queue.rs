//! The same rig with queues: workers that push, pop and end deliveries, and a checker of what they wrote.

pub mod check;
pub mod end;
pub(crate) mod labour;
mod tale;
#[cfg(test)]
mod tests;
mod verdict;

/// The one queue.
pub const NAME: &str = "work";
/// How many items of it may be in work.
pub const LIMIT: u32 = 5;
/// How many of a group.
pub const GROUP_LIMIT: u32 = 1;
