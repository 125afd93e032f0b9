//! Models of queues: the ledger of one queue, a session that pushes, and sessions that work.

mod act;
mod action;
pub mod bounds;
pub mod broken;
mod hear;
pub mod judge;
pub mod list;
pub mod model;
pub mod plant;
mod quiet;
mod serve;
mod story;
mod view;
pub mod world;
