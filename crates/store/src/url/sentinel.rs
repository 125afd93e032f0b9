//! URLs of a Redis or Valkey master that sentinels watch over.

use std::fmt;

use super::{
    BadStoreUrl, RedisAddress, RedisOptions, RedisUrl, UrlQuery,
    options::{decode, encode},
    redis::{Password, parse_database, parse_hosts, parse_login, show_host, show_user},
};

const DEFAULT_PORT: u16 = 26379;

/// A master known by its name, and the sentinels that know its address. `Debug` and the text form
/// leave passwords out. They also leave out a user without a password.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct SentinelUrl {
    /// The addresses of the sentinels: hosts (IPv6 addresses without brackets) and ports; at least
    /// one.
    pub sentinels: Vec<(String, u16)>,
    /// The name under which the sentinels know the master.
    pub master: String,
    /// Whether to use TLS, with sentinels and servers.
    pub tls: bool,
    /// The user to log in as at the servers. `None` is the default user.
    pub user: Option<String>,
    /// The password for the servers; `None`: the client does not log in there.
    pub password: Option<Password>,
    /// The user to log in as at the sentinels. `None` is the default user.
    pub sentinel_user: Option<String>,
    /// The password for the sentinels; `None`: the client does not log in there.
    pub sentinel_password: Option<Password>,
    /// The number of the master's database to use.
    pub database: u32,
    /// The options of the store.
    pub options: RedisOptions,
}

impl SentinelUrl {
    const OWN: [&'static str; 2] = ["sentinel-user", "sentinel-pass"];

    /// Parses the rest of a URL behind `redis+sentinel:`.
    pub(super) fn parse(rest: &str, tls: bool) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let place = place.strip_prefix("//").ok_or(BadStoreUrl::BadHost)?;
        // The login ends at the last @, since people forget to encode an @ in their password.
        let (login, place) = place.rsplit_once('@').unwrap_or(("", place));
        let (hosts, path) = place.split_once('/').unwrap_or((place, ""));
        let (master, database) = path.split_once('/').unwrap_or((path, ""));
        let (user, password) = parse_login(login)?;
        let sentinel_user = query.take("sentinel-user")?;
        let sentinel_password = query.take("sentinel-pass")?.map(Password);
        let options = RedisOptions::take(&mut query, tls)?;
        query.finish("Sentinel", &[&Self::OWN[..], &RedisOptions::KNOWN].concat())?;
        Ok(Self {
            sentinels: parse_hosts(hosts, DEFAULT_PORT)?,
            master: parse_master(master)?,
            tls,
            user,
            password,
            sentinel_user,
            sentinel_password,
            database: parse_database(database)?,
            options,
        })
    }

    /// Returns the URL of the server at this address, with the login and options of this URL.
    #[must_use]
    pub fn server(&self, host: String, port: u16) -> RedisUrl {
        RedisUrl {
            address: RedisAddress::Tcp { host, port, tls: self.tls },
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database,
            options: self.options.clone(),
        }
    }

    /// Returns the URL of the sentinel at this address.
    #[must_use]
    pub fn sentinel(&self, host: String, port: u16) -> RedisUrl {
        let (user, password) = (self.sentinel_user.clone(), self.sentinel_password.clone());
        // The database of this URL is one of the master. A sentinel has only 0.
        RedisUrl { user, password, database: 0, ..self.server(host, port) }
    }

    fn user_to_show(&self) -> Option<&str> {
        self.user.as_deref().filter(|_| self.password.is_some())
    }
}

fn parse_master(text: &str) -> Result<String, BadStoreUrl> {
    let master = decode(text)?;
    if master.is_empty() || master.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(BadStoreUrl::BadMaster);
    }
    Ok(master)
}

impl fmt::Debug for SentinelUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentinelUrl")
            .field("sentinels", &self.sentinels)
            .field("master", &self.master)
            .field("tls", &self.tls)
            .field("user", &self.user_to_show())
            .field("database", &self.database)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for SentinelUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "rediss" } else { "redis" };
        let user = show_user(self.user_to_show());
        let sentinel = |(host, port): &(String, u16)| format!("{}:{port}", show_host(host));
        let hosts = self.sentinels.iter().map(sentinel).collect::<Vec<_>>().join(",");
        let master = encode(&self.master, &['/', '@']);
        write!(f, "{scheme}+sentinel://{user}{hosts}/{master}/{}", self.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::StoreUrl;

    fn parsed(text: &str) -> SentinelUrl {
        match StoreUrl::parse(text) {
            Ok(StoreUrl::Sentinel(url)) => url,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn refusal(text: &str) -> BadStoreUrl {
        StoreUrl::parse(text).expect_err(text)
    }

    #[test]
    fn a_sentinel_url_has_all_its_parts() {
        let url = parsed(
            "rediss+sentinel://ann:p%40ss@a:1,[::1]:2,c/my%2Dmaster/3\
             ?sentinel-user=eve&sentinel-pass=s%26&replicated=2",
        );
        let sentinels = [("a", 1), ("::1", 2), ("c", 26379)];
        assert_eq!(url.sentinels, sentinels.map(|(host, port)| (host.to_owned(), port)));
        assert_eq!((url.master.as_str(), url.database, url.tls), ("my-master", 3, true));
        assert_eq!(url.user.as_deref(), Some("ann"));
        assert_eq!(url.password.as_ref().map(Password::reveal), Some("p@ss"));
        assert_eq!(url.sentinel_user.as_deref(), Some("eve"));
        assert_eq!(url.sentinel_password.as_ref().map(Password::reveal), Some("s&"));
        assert_eq!(url.options.replicated, Some(2));
    }

    #[test]
    fn servers_and_sentinels_have_logins_of_their_own() {
        let url = parsed("redis+sentinel://ann:one@a/m/4?sentinel-pass=two");
        let (server, sentinel) = (url.server("s".into(), 7), url.sentinel("a".into(), 8));
        assert_eq!(server.password.as_ref().map(Password::reveal), Some("one"));
        assert_eq!((server.user.as_deref(), server.database), (Some("ann"), 4));
        assert_eq!(sentinel.password.as_ref().map(Password::reveal), Some("two"));
        assert_eq!((sentinel.user, sentinel.database), (None, 0));
    }

    #[test]
    fn a_sentinel_url_names_its_master() {
        for text in ["redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a//1"] {
            assert_eq!(refusal(text), BadStoreUrl::BadMaster, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_a_password() {
        for text in [
            "redis+sentinel://:s3cret@a/m/x",
            "redis+sentinel://:s3cret@a:0/m",
            "redis+sentinel://:s3cret@a,b c/m",
            "redis+sentinel:s3cret@a",
            "redis+sentinel://a/m?sentinel-pass=s3cret&sentinel-password=s3cret",
        ] {
            let said = format!("{0} {0:?}", refusal(text));
            assert!(!said.contains("s3cret"), "{said}");
        }
    }

    #[test]
    fn its_text_form_has_no_password() {
        let url = parsed("valkey+sentinel://ann:s3cret@a,[::1]:2/m?sentinel-pass=s3cret");
        assert_eq!(url.to_string(), "redis+sentinel://ann@a:26379,[::1]:2/m/0");
        assert!(!format!("{url:?}").contains("s3cret"), "{url:?}");
    }
}
