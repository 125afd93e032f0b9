//! The command line of `serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

pub(crate) const ABOUT: &str = "\
Tokens:
  Only its owner may be able to read the file (and its group, if root
  owns it and serve is not root). It has a token a line:
    read     TOKEN [WHO]    may look
    use      TOKEN [WHO]    may also take permits, with --api
    operate  TOKEN [WHO]    may also act, with --allow-actions
  A browser asks for a user name and a password. The password is the
  token; the user name does not matter. Programs send the header
  `Authorization: Bearer TOKEN`.

Metrics are at /metrics, for Prometheus.";

#[derive(Args, Debug)]
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a program with pages reads them")
)]
pub(crate) struct ServeArgs {
    /// The address to listen on; any address but loopback needs --token-file
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7478")]
    pub(crate) listen: SocketAddr,
    /// A host name under which browsers reach the pages, besides those of loopback; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Admit only clients with a token from this file
    #[arg(long, value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve over TLS with the certificate chain in this PEM file
    #[arg(long, value_name = "PATH", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of that certificate, a PEM file
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Allow actions, on the pages and in the API: set limits and names of slots, pause, resume,
    /// reserve, evict, replay, drop, cancel and purge
    #[arg(long)]
    pub(crate) allow_actions: bool,
    /// Let programs take permits and items over HTTP; /v1/openapi.json describes how
    #[arg(long)]
    pub(crate) api: bool,
    /// Append each change to this file as a line of JSON
    #[arg(long, value_name = "PATH")]
    pub(crate) audit: Option<PathBuf>,
    /// Do not show the payloads of items, on the pages and in the API
    #[arg(long)]
    pub(crate) hide_payloads: bool,
    /// The prefix of every path, for use behind a proxy, such as /locks
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub(crate) base_path: String,
    /// Count the waits, holds and losses of this name for /metrics; repeatable, at most 100
    #[arg(long, value_name = "NAME")]
    pub(crate) metrics_of: Vec<String>,
    /// How many open pages are kept up to date at once; fewer if the system allows fewer open files
    #[arg(long, value_name = "N", default_value = "1000", value_parser = super::values::count(100_000))]
    pub(crate) streams: u32,
}
