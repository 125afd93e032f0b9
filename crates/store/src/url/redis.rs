//! URLs of Redis and Valkey servers, in the convention that their own tools use.

use std::{fmt, path::PathBuf};

use super::{
    BadStoreUrl, RedisOptions, UrlQuery,
    options::{decode, encode, number},
};

pub(super) const DEFAULT_PORT: u16 = 6379;

/// One Redis or Valkey server. `Debug` and the text form leave the password out. They also leave
/// out a user without a password, because that may be a password in the wrong place.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct RedisUrl {
    /// The address of the server.
    pub address: RedisAddress,
    /// The user to log in as. `None` is the default user.
    pub user: Option<String>,
    /// The password; `None`: the client does not log in.
    pub password: Option<Password>,
    /// The number of the database to use.
    pub database: u32,
    /// The options of the store.
    pub options: RedisOptions,
}

/// The address at which a Redis server listens. No other kinds will be added.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RedisAddress {
    /// A host and a port.
    Tcp {
        /// A host name or an address. An IPv6 address has no brackets here.
        host: String,
        /// The port.
        port: u16,
        /// Whether to use TLS.
        tls: bool,
    },
    /// A socket on this machine.
    Unix(PathBuf),
}

/// A password that nothing prints by accident.
#[derive(Clone, Eq, PartialEq)]
pub struct Password(pub(super) String);

impl Password {
    /// Returns the password itself, for the server only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl RedisUrl {
    /// Parses the rest of a URL behind `redis:`.
    pub(super) fn parse(rest: &str, tls: bool) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let place = place.strip_prefix("//").ok_or(BadStoreUrl::BadHost)?;
        // The login ends at the last @, since people forget to encode an @ in their password.
        let (login, server) = place.rsplit_once('@').unwrap_or(("", place));
        let (server, database) = server.split_once('/').unwrap_or((server, ""));
        let (user, password) = parse_login(login)?;
        let (host, port) = parse_server(server, DEFAULT_PORT)?;
        let options = RedisOptions::take(&mut query, tls)?;
        query.finish("Redis", &RedisOptions::KNOWN)?;
        let address = RedisAddress::Tcp { host, port, tls };
        Ok(Self { address, user, password, database: parse_database(database)?, options })
    }

    /// Parses the rest of a URL behind `unix:`. The login and the database are parameters here.
    pub(super) fn parse_unix(rest: &str) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let path = decode(place.strip_prefix("//").unwrap_or(place))?;
        if !path.starts_with('/') || path.ends_with('/') {
            return Err(BadStoreUrl::BadSocket);
        }
        let (user, password) = (query.take("user")?, query.take("pass")?.map(Password));
        let database = parse_database(&query.take("db")?.unwrap_or_default())?;
        let options = RedisOptions::take(&mut query, false)?;
        query.finish("Redis", &[&["user", "pass", "db"], &RedisOptions::KNOWN[..]].concat())?;
        let address = RedisAddress::Unix(PathBuf::from(path));
        Ok(Self { address, user, password, database, options })
    }
}

pub(super) type Login = (Option<String>, Option<Password>);

pub(super) fn parse_login(login: &str) -> Result<Login, BadStoreUrl> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let present = |text: &str| decode(text).map(|text| Some(text).filter(|text| !text.is_empty()));
    Ok((present(user)?, present(password)?.map(Password)))
}

/// Parses `HOST:PORT,HOST:PORT`. One server may leave its host out. In a list of several, an entry
/// without a host is a slip of the pen: taken for this machine, it would be another server on each
/// machine, and the lists of two machines would differ.
pub(super) fn parse_hosts(
    servers: &str,
    default_port: u16,
) -> Result<Vec<(String, u16)>, BadStoreUrl> {
    let names_none =
        |server: &str| server.is_empty() || server.starts_with(':') || server.starts_with("[]");
    if servers.contains(',') && servers.split(',').any(names_none) {
        return Err(BadStoreUrl::BadHost);
    }
    servers.split(',').map(|server| parse_server(server, default_port)).collect()
}

/// Splits `HOST:PORT`, where the host may be an IPv6 address in brackets.
fn parse_server(server: &str, default_port: u16) -> Result<(String, u16), BadStoreUrl> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(BadStoreUrl::BadHost)?,
        None => server.split_at(server.find(':').unwrap_or(server.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(digits) => number(digits).filter(|port| *port > 0),
        None => port.is_empty().then_some(default_port),
    };
    // redis-cli, too, takes redis://:6379 and redis:/// for this machine.
    let host = if host.is_empty() { "localhost".to_owned() } else { decode(host)? };
    if host.contains(|c: char| c.is_control() || c.is_whitespace() || c == ',') {
        return Err(BadStoreUrl::BadHost);
    }
    Ok((host, port.ok_or(BadStoreUrl::BadPort)?))
}

pub(super) fn parse_database(text: &str) -> Result<u32, BadStoreUrl> {
    let text = text.trim_end_matches('/');
    if text.is_empty() { Ok(0) } else { number(text).ok_or(BadStoreUrl::BadDatabase) }
}

/// Writes a host for a URL. An IPv6 address gets its brackets back.
pub fn show_host(host: &str) -> String {
    let shown = encode(host, &['/', '@', ',', '[', ']']);
    if host.contains(':') { format!("[{shown}]") } else { shown }
}

/// Writes the user of a login, as it stands before the host.
pub(super) fn show_user(user: Option<&str>) -> String {
    user.map(|user| format!("{}@", encode(user, &[':', '/', '@']))).unwrap_or_default()
}

impl RedisUrl {
    fn user_to_show(&self) -> Option<&str> {
        self.user.as_deref().filter(|_| self.password.is_some())
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisUrl")
            .field("address", &self.address)
            .field("user", &self.user_to_show())
            .field("database", &self.database)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            RedisAddress::Unix(path) => {
                let database = Some(self.database).filter(|database| *database > 0);
                let database = database.map(|n| format!("?db={n}")).unwrap_or_default();
                write!(f, "unix://{}{database}", encode(&path.to_string_lossy(), &[]))
            }
            RedisAddress::Tcp { host, port, tls } => {
                let scheme = if *tls { "rediss" } else { "redis" };
                let user = show_user(self.user_to_show());
                write!(f, "{scheme}://{user}{}:{port}/{}", show_host(host), self.database)
            }
        }
    }
}
