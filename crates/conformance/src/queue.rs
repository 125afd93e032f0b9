//! The cases about queues, which have a list of their own.

pub mod cases;
mod client;
mod list;
pub(crate) mod requests;

pub(crate) use client::QueueClient;
pub use list::QUEUE_CASES;
