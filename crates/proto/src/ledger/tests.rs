//! The rules of the ledger, a sentence a test. The numbers are those of docs/internals/protocol.md.

mod attach;
mod clock;
mod cost;
mod damage;
mod fences;
mod guard;
mod history;
mod leases;
mod leaving;
mod lengths;
mod limits;
mod named;
mod order;
mod reach;
mod renewal;
mod retry;
mod series;
mod steering;
mod why;
mod world;
