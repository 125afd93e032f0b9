//! The command line of `serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

pub(crate) const ABOUT: &str = "\
Tokens:
  A file that only its owner can read, a token a line:
    read     TOKEN [WHO]    may look
    use      TOKEN [WHO]    may take permits, too, with --api
    operate  TOKEN [WHO]    may act, too, with --allow-actions
  A browser asks for a password: that is the token, with any user
  name. Others send `Authorization: Bearer TOKEN`.

Metrics are at /metrics, for Prometheus.";

#[derive(Args, Debug)]
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a program with pages reads them")
)]
pub(crate) struct Serve {
    /// Where to listen; anywhere but on this machine's loopback only with --token-file
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7478")]
    pub(crate) listen: SocketAddr,
    /// A name under which browsers reach it, beside those of the loopback; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Let in only who has a token of this file
    #[arg(long, value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
    /// Speak TLS with the certificate in this PEM file, and those that vouch for it
    #[arg(long, value_name = "PATH", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of that certificate, a PEM file
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Let people change limits, pause, resume, evict, replay, drop, cancel and purge
    #[arg(long)]
    pub(crate) allow_actions: bool,
    /// Let programs take permits and items by HTTP: /v1/openapi.json says how
    #[arg(long)]
    pub(crate) api: bool,
    /// Append each change to this file, as a line of JSON
    #[arg(long, value_name = "PATH")]
    pub(crate) audit: Option<PathBuf>,
    /// Do not show the payloads of dead letters
    #[arg(long)]
    pub(crate) hide_payloads: bool,
    /// What stands before every address, as behind a proxy: /locks
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub(crate) base_path: String,
    /// How many pages may be kept up to date at once
    #[arg(long, value_name = "N", default_value = "1000", value_parser = super::values::count(100_000))]
    pub(crate) streams: u32,
}
