//! Models of Seinpaal for a model checker: the real ledger and real sessions of `seinpaal-proto`,
//! joined by a network that loses, repeats, delays and reorders, under crashes, pauses and clocks
//! that are set.
//!
//! ```text
//!   World ── actions ──▶ World' ── properties ──▶ kept, or the shortest history that breaks one
//!     │
//!     ├─ MemoryState      the ledger of one name, by `execute`
//!     ├─ Session × 2..3   clients, polled at every tick
//!     ├─ Parcels          requests, replies and wakeups under way
//!     └─ an operator      who pins limits and ends what others hold
//! ```
#![forbid(unsafe_code)]

pub mod bounds;
pub mod explore;
pub mod game;
pub mod list;
pub mod model;
pub mod plant;
mod planting;
pub mod queue;
pub mod recipes;
pub mod story;
mod traffic;
pub mod walk;
pub mod world;
