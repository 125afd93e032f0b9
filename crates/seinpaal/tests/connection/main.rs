//! The promises of a connection beyond its requests: how it ends, what it tells of a silent store,
//! what it logs, and by which clock it goes.
#![cfg(feature = "redis")]

mod closing;
mod forking;
mod logs;
mod parting;
mod silence;
mod virtual_time;
