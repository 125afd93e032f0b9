//! URLs of ZooKeeper ensembles: `zookeeper://user:password@host:port,host:port/chroot`.

use std::{fmt, time::Duration};

use super::{
    BadStoreUrl, Password, UrlQuery,
    options::{above_zero, decode, encode},
    redis::{parse_hosts, parse_login, show_host, show_user},
};

const DEFAULT_PORT: u16 = 2181;
const DEFAULT_ROOT: &str = "/seinpaal";
const KNOWN: [&str; 2] = ["session", "connect-timeout"];

/// A ZooKeeper ensemble. `Debug` and the text form leave the password out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ZookeeperUrl {
    /// The servers: hosts (IPv6 addresses without brackets) and ports; at least one.
    pub servers: Vec<(String, u16)>,
    /// The user and password for digest authentication; `None`: the client does not log in, and
    /// everything is open to everybody.
    pub login: Option<(String, Password)>,
    /// The znode under which everything is kept: an absolute path without a slash at the end; empty
    /// for the root of the ensemble.
    pub root: String,
    /// `session=DUR`: the session time-out to ask for. The ensemble may choose another.
    pub session: Option<Duration>,
    /// `connect-timeout=DUR`: how long connecting may take; above zero.
    pub connect_timeout: Option<Duration>,
}

impl ZookeeperUrl {
    /// Parses the rest of a URL behind `zookeeper:`.
    pub(super) fn parse(rest: &str) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let place = place.strip_prefix("//").ok_or(BadStoreUrl::BadHost)?;
        // The login ends at the last @, since people forget to encode an @ in their password.
        let (login, place) = place.rsplit_once('@').unwrap_or(("", place));
        let (servers, root) = match place.find('/') {
            Some(at) => place.split_at(at),
            None => (place, DEFAULT_ROOT),
        };
        let servers = parse_hosts(servers, DEFAULT_PORT)?;
        let session = query.take_as("session", "a duration above zero", above_zero)?;
        let connect_timeout =
            query.take_as("connect-timeout", "a duration above zero", above_zero)?;
        query.finish("ZooKeeper", &KNOWN)?;
        Ok(Self {
            servers,
            login: parse_digest(login)?,
            root: parse_root(root)?,
            session,
            connect_timeout,
        })
    }

    /// Returns the servers in the form of ZooKeeper's own tools.
    #[must_use]
    pub fn servers(&self) -> String {
        let servers = self.servers.iter().map(|(host, port)| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        });
        servers.collect::<Vec<_>>().join(",")
    }
}

fn parse_digest(login: &str) -> Result<Option<(String, Password)>, BadStoreUrl> {
    match parse_login(login)? {
        (None, None) => Ok(None),
        (Some(user), Some(password)) => Ok(Some((user, password))),
        _ => Err(BadStoreUrl::HalfALogin),
    }
}

/// Parses the path of a URL. `/` alone is the root of the ensemble.
fn parse_root(path: &str) -> Result<String, BadStoreUrl> {
    let path = decode(path)?;
    let path = path.trim_end_matches('/');
    let is_bad = |part: &str| matches!(part, "" | "." | "..") || part.contains(char::is_control);
    if path.split('/').skip(1).any(is_bad) {
        return Err(BadStoreUrl::BadChroot);
    }
    Ok(path.to_owned())
}

fn shown((host, port): &(String, u16)) -> String {
    format!("{}:{port}", show_host(host))
}

impl fmt::Display for ZookeeperUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = show_user(self.login.as_ref().map(|(user, _)| user.as_str()));
        let servers: Vec<_> = self.servers.iter().map(shown).collect();
        let root = if self.root.is_empty() { "/" } else { &self.root };
        write!(f, "zookeeper://{user}{}{}", servers.join(","), encode(root, &['@']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::StoreUrl;

    fn parse(text: &str) -> ZookeeperUrl {
        match StoreUrl::parse(text) {
            Ok(StoreUrl::Zookeeper(url)) => url,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hosts_ports_login_and_chroot_are_read() {
        let url = parse("zookeeper://me:s%40cret@a:1,b,[::1]:3/x/y/?session=4s&connect-timeout=1s");
        assert_eq!(url.servers(), "a:1,b:2181,[::1]:3");
        let (user, password) = url.login.clone().unwrap();
        assert_eq!((&user[..], password.reveal()), ("me", "s@cret"));
        assert_eq!(url.root, "/x/y");
        assert_eq!(url.session, Some(Duration::from_secs(4)));
        assert_eq!(url.connect_timeout, Some(Duration::from_secs(1)));
    }

    #[test]
    fn without_a_chroot_it_has_a_place_of_its_own_and_with_a_slash_the_root() {
        assert_eq!(parse("zookeeper://a").root, "/seinpaal");
        assert_eq!(parse("zookeeper://a/").root, "");
        assert_eq!(parse("zookeeper://a/").to_string(), "zookeeper://a:2181/");
    }

    #[test]
    fn what_is_shown_has_no_password_in_it() {
        let url = parse("zookeeper://me:secret@a/x");
        assert_eq!(url.to_string(), "zookeeper://me@a:2181/x");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn what_is_wrong_is_said_without_repeating_a_password() {
        for (text, bad) in [
            ("zookeeper://secret@a", BadStoreUrl::HalfALogin),
            ("zookeeper://a/x//y", BadStoreUrl::BadChroot),
            ("zookeeper://a/x/../y", BadStoreUrl::BadChroot),
            ("zookeeper://a:secret", BadStoreUrl::BadPort),
            ("zookeeper:a", BadStoreUrl::BadHost),
        ] {
            assert_eq!(StoreUrl::parse(text), Err(bad.clone()), "{text}");
            assert!(!bad.to_string().contains("secret"));
        }
    }
}
