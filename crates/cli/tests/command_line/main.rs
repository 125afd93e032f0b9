//! The command line, tried as people and scripts use it: the built program, real processes, real stores.

mod damage;
mod data;
mod endings;
mod errors;
mod events;
mod full;
mod kinds;
mod lease;
mod outlets;
mod planted;
mod queue_lease;
mod queue_push;
mod queue_signals;
mod queue_steer;
mod queue_work;
mod readme;
mod settings;
mod signals;
mod status;
mod stores;
mod streams;
mod support;
mod terminal;
mod tickets;
mod waiting;
mod zookeeper;
