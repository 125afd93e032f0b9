//! Web pages that show the holders and the waiters of each name, with reasons and times. Metrics,
//! and an HTTP API for programs that cannot link the crate `seinpaal`.
//!
//! `seinpaal serve` is this crate on a port. A service mounts the same pages into its own router:
//!
//! ```
//! # futures_executor::block_on(async {
//! use seinpaal::Seinpaal;
//! use seinpaal_serve::{Dashboard, Options};
//!
//! let options = Options {
//!     base_path: "/locks".to_owned(),
//!     hosts: vec!["intranet.example".to_owned()],
//!     ..Options::default()
//! };
//! let dashboard = Dashboard::new(Seinpaal::in_memory(), options)?;
//! let app: axum::Router = axum::Router::new().merge(dashboard.router());
//! # drop(app);
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//! docs/guide/serve.md says how to use it, and docs/decisions/serve.md how it is built and
//! what it refuses.
#![deny(unsafe_code)]

mod access;
mod act;
mod api;
mod assets;
mod audit;
mod carry;
mod counting;
mod dashboard;
mod deed;
mod deliveries;
mod escape;
mod fields;
mod glances;
mod history;
mod json_text;
mod listen;
mod lists;
mod live;
mod metrics;
mod options;
mod page;
mod problem;
mod replay;
mod shared;
mod source;
mod stream_room;
mod tally;
mod tls;
mod tokens;
mod under_way;
mod view;
mod watch;

pub use dashboard::Dashboard;
pub use listen::{serve, serve_tls};
pub use options::{BadOption, Options};
pub use stream_room::StreamRoom;
pub use tls::{BadCertificate, Certificate};
pub use tokens::{BadTokens, Role, Tokens};
