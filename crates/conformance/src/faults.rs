//! Runs under load while servers are killed, paused, cut off or made to forget.
//!
//! ```text
//!   Load ──▶ Field: clients that come and go, each with a connection of its own
//!              │        ▲ judged at each grant: who believes to hold, and are these too many?
//!              ▼        │
//!            servers ◀── one run a module: what it does to them, and what it reports
//! ```
//!
//! What is judged is what clients *believe*, by one monotonic clock: a permit counts from the
//! moment at which its holder has it in hand for as long as the holder's guard says that it is
//! held.

pub mod amnesia;
pub mod cluster;
mod draws;
pub mod failover;
pub mod field;
pub mod leaders;
pub mod load;
pub mod quorum;
pub mod tally;
