//! The promises of a connection beyond its requests: how it ends, what it reports about a silent
//! store, what it logs, and which clock it uses.
#![cfg(feature = "redis")]

mod closing;
mod forking;
mod logs;
mod parting;
mod silence;
mod virtual_time;
