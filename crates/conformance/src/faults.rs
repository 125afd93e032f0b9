//! Runs under load while servers are killed, paused and made to forget.

pub mod quorum;
