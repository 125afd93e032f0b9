//! URLs of Redis and Valkey clusters. A URL names some nodes, and the client learns of the others
//! from these.

use std::fmt;

use super::{
    BadStoreUrl, Password, RedisAddress, RedisOptions, RedisUrl, UrlQuery,
    redis::{DEFAULT_PORT, parse_hosts, parse_login, show_host, show_user},
};

/// A Redis or Valkey cluster. `Debug` and the text form leave the password out. They also leave out
/// a user without a password, because that may be a password in the wrong place.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct ClusterUrl {
    /// Hosts and ports of some of its nodes; at least one.
    pub nodes: Vec<(String, u16)>,
    /// Whether to use TLS, with every node.
    pub tls: bool,
    /// The user to log in as, at every node. `None` is the default user.
    pub user: Option<String>,
    /// The password; `None`: the client does not log in.
    pub password: Option<Password>,
    /// The options of the store.
    pub options: RedisOptions,
}

impl ClusterUrl {
    /// Parses the rest of a URL behind `redis+cluster:`.
    pub(super) fn parse(rest: &str, tls: bool) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let place = place.strip_prefix("//").ok_or(BadStoreUrl::BadHost)?;
        // The login ends at the last @, since people forget to encode an @ in their password.
        let (login, servers) = place.rsplit_once('@').unwrap_or(("", place));
        let (servers, database) = servers.split_once('/').unwrap_or((servers, ""));
        if !matches!(database, "" | "0") {
            return Err(BadStoreUrl::ClusterDatabase);
        }
        let (user, password) = parse_login(login)?;
        let nodes = parse_hosts(servers, DEFAULT_PORT)?;
        let options = RedisOptions::take(&mut query, tls)?;
        query.finish("Redis Cluster", &RedisOptions::KNOWN)?;
        Ok(Self { nodes, tls, user, password, options })
    }

    /// Returns the URL of one node, with the login and the options of the cluster.
    #[must_use]
    pub fn node(&self, host: &str, port: u16) -> RedisUrl {
        RedisUrl {
            address: RedisAddress::Tcp { host: host.to_owned(), port, tls: self.tls },
            user: self.user.clone(),
            password: self.password.clone(),
            database: 0,
            options: self.options.clone(),
        }
    }

    fn user_to_show(&self) -> Option<&str> {
        self.user.as_deref().filter(|_| self.password.is_some())
    }
}

impl fmt::Debug for ClusterUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterUrl")
            .field("nodes", &self.nodes)
            .field("tls", &self.tls)
            .field("user", &self.user_to_show())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ClusterUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "rediss+cluster" } else { "redis+cluster" };
        let user = show_user(self.user_to_show());
        let nodes = self.nodes.iter().map(|(host, port)| shown(host, *port)).collect::<Vec<_>>();
        write!(f, "{scheme}://{user}{}", nodes.join(","))
    }
}

fn shown(host: &str, port: u16) -> String {
    format!("{}:{port}", show_host(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::StoreUrl;

    fn cluster(text: &str) -> ClusterUrl {
        match StoreUrl::parse(text) {
            Ok(StoreUrl::Cluster(url)) => url,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_cluster_url_names_some_nodes_and_one_login_for_all() {
        let url = cluster("rediss+cluster://ann:p%40ss@a:7000,[::1]:7001,c?prefix=x:");
        let nodes = [("a".into(), 7000), ("::1".into(), 7001), ("c".into(), 6379)];
        assert_eq!((&url.nodes[..], url.tls), (&nodes[..], true));
        assert_eq!(url.user.as_deref(), Some("ann"));
        assert_eq!(url.password.as_ref().map(Password::reveal), Some("p@ss"));
        assert_eq!(url.options.prefix.as_deref(), Some("x:"));
        assert_eq!(url.to_string(), "rediss+cluster://ann@a:7000,[::1]:7001,c:6379");
        assert_eq!(url.node("b", 1).to_string(), "rediss://ann@b:1/0");
    }

    #[test]
    fn a_database_other_than_the_first_is_refused() {
        assert_eq!(cluster("redis+cluster://h:1/0").nodes, cluster("redis+cluster://h:1/").nodes);
        for path in ["1", "x", "0/1"] {
            let refused = StoreUrl::parse(&format!("redis+cluster://h:1/{path}"));
            assert_eq!(refused, Err(BadStoreUrl::ClusterDatabase));
        }
    }

    #[test]
    fn what_is_malformed_is_refused_and_no_password_is_repeated() {
        for text in ["redis+cluster:h", "redis+cluster://a b:1", "redis+cluster://h:1,x y"] {
            assert_eq!(StoreUrl::parse(text), Err(BadStoreUrl::BadHost), "{text}");
        }
        assert_eq!(StoreUrl::parse("redis+cluster://h:1,g:x"), Err(BadStoreUrl::BadPort));
        let url = cluster("redis+cluster://:hunter2@h:1,g:2");
        assert!(!format!("{url} {url:?}").contains("hunter2"));
        let error = StoreUrl::parse("redis+cluster://:hunter2@h:x,g:2").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
