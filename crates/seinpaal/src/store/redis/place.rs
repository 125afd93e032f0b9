//! Where the server is, and how to talk to it: asked anew whenever a link is opened.

use std::{fmt, time::Duration};

use redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisResult, io::tcp::TcpSettings,
};

use super::sentinel;
use crate::store::{
    StoreError,
    url::{RedisAddress, RedisOptions, RedisUrl, SentinelUrl},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the server is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Always at the same address.
    Server(RedisUrl),
    /// Where the sentinels say.
    Sentinels(SentinelUrl),
}

impl Place {
    /// The server to connect to now.
    pub(super) async fn find(&self) -> Result<RedisUrl, StoreError> {
        match self {
            Self::Server(url) => Ok(url.clone()),
            Self::Sentinels(url) => sentinel::find_master(url, self.connect_timeout()).await,
        }
    }

    pub(super) fn options(&self) -> &RedisOptions {
        match self {
            Self::Server(url) => &url.options,
            Self::Sentinels(url) => &url.options,
        }
    }

    /// As in [`Abilities`](crate::store::Abilities).
    pub(super) fn scheme(&self) -> &'static str {
        match self {
            Self::Server(_) => "redis",
            Self::Sentinels(_) => "redis+sentinel",
        }
    }

    /// Whether it may move, so that what is found must prove to be a master.
    pub(super) fn may_move(&self) -> bool {
        matches!(self, Self::Sentinels(_))
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.options().connect_timeout.unwrap_or(CONNECT_TIMEOUT)
    }
}

/// Without its password.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(url) => url.fmt(f),
            Self::Sentinels(url) => url.fmt(f),
        }
    }
}

/// A client for one server.
pub(super) fn client(url: &RedisUrl, protocol: ProtocolVersion) -> RedisResult<Client> {
    Client::open(connection_info(url, protocol)?)
}

fn connection_info(url: &RedisUrl, protocol: ProtocolVersion) -> RedisResult<ConnectionInfo> {
    let mut settings = RedisConnectionInfo::default()
        .set_protocol(protocol)
        .set_db(i64::from(url.database))
        .set_lib_name("seinpaal", env!("CARGO_PKG_VERSION"));
    if let Some(user) = &url.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = &url.password {
        settings = settings.set_password(password.reveal());
    }
    let tcp = TcpSettings::default().set_nodelay(true);
    let address = address(&url.address).into_connection_info()?;
    Ok(address.set_redis_settings(settings).set_tcp_settings(tcp))
}

fn address(address: &RedisAddress) -> ConnectionAddr {
    match address.clone() {
        RedisAddress::Tcp { host, port, tls: false } => ConnectionAddr::Tcp(host, port),
        RedisAddress::Tcp { host, port, tls: true } => {
            // Only the first provider of a process counts; another crate's will do as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        }
        RedisAddress::Unix(path) => ConnectionAddr::Unix(path),
    }
}
