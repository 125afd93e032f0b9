//! Where the server is, and how to talk to it: asked anew whenever a link is opened.

use std::{fmt, time::Duration};

use redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisResult, io::tcp::TcpSettings,
};

use crate::store::{
    StoreError,
    url::{RedisAddress, RedisOptions, RedisUrl},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the server is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Always at the same address.
    Server(RedisUrl),
}

impl Place {
    /// The server to connect to now.
    pub(super) async fn find(&self) -> Result<RedisUrl, StoreError> {
        match self {
            Self::Server(url) => Ok(url.clone()),
        }
    }

    pub(super) fn options(&self) -> &RedisOptions {
        match self {
            Self::Server(url) => &url.options,
        }
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
