//! Runs under load while servers are killed, paused, cut off or made to forget.
//!
//! ```text
//!   Load ──▶ Field: clients that come and go, each with a connection of its own
//!              │        ▲ judged at each grant: how many clients believe that they hold?
//!              ▼        │
//!            servers ◀── one run a module: its faults, and its report
//! ```
//!
//! The judge counts the permits that clients *believe* in, by one monotonic clock: a permit counts
//! from the moment at which its holder has it in hand, for as long as `Permit::is_held` is true.

pub mod amnesia;
pub mod cluster;
mod draws;
pub mod failover;
pub mod field;
pub mod leaders;
pub mod load;
pub mod quorum;
pub mod tally;
