//! Sessions, a ledger and a virtual clock.
