//! URLs of a quorum: several Redis or Valkey servers that know nothing of each other.

use std::{collections::BTreeSet, fmt, net::Ipv6Addr};

use super::{
    BadStoreUrl, RedisAddress, RedisOptions, RedisUrl, RestartGuard, UrlQuery,
    options::Files,
    redis::{DEFAULT_PORT, parse_database, parse_hosts, parse_login, show_host, show_user},
};

/// A quorum: an odd number of independent servers, 3 to 9. `Debug` and the text form leave the
/// password out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QuorumUrl {
    /// Each server, with the login and the database that they all share.
    pub nodes: Vec<RedisUrl>,
    /// The options of all servers. The restart guard is on unless it is switched off.
    pub options: RedisOptions,
}

const KNOWN: [&str; 7] =
    ["restart-guard", "clock-bound", "prefix", "connect-timeout", "ca", "cert", "key"];

impl QuorumUrl {
    /// Parses the rest of a URL behind `redis+quorum:`.
    pub(super) fn parse(rest: &str, tls: bool) -> Result<Self, BadStoreUrl> {
        let (place, mut query) = UrlQuery::split(rest)?;
        let place = place.strip_prefix("//").ok_or(BadStoreUrl::BadHost)?;
        let (login, servers) = place.rsplit_once('@').unwrap_or(("", place));
        let (servers, database) = servers.split_once('/').unwrap_or((servers, ""));
        let (user, password) = parse_login(login)?;
        let database = parse_database(database)?;
        let options = Self::take_options(&mut query, tls)?;
        query.finish("quorum", &KNOWN)?;
        let nodes = parse_hosts(servers, DEFAULT_PORT)?.into_iter().map(|(host, port)| {
            let address = RedisAddress::Tcp { host, port, tls };
            let (user, password) = (user.clone(), password.clone());
            RedisUrl { address, user, password, database, options: RedisOptions::default() }
        });
        let nodes = nodes.collect::<Vec<_>>();
        refuse_a_bad_set(&nodes)?;
        Ok(Self { nodes, options })
    }

    fn take_options(query: &mut UrlQuery, tls: bool) -> Result<RedisOptions, BadStoreUrl> {
        let wanted = "on, off, or a duration of 125ms to 30h";
        let guard = query.take_as("restart-guard", wanted, RestartGuard::parse)?;
        let Files { ca, cert, key } = Files::take(query, tls)?;
        Ok(RedisOptions {
            ca,
            cert,
            key,
            restart_guard: guard.unwrap_or(Some(RestartGuard::ON)),
            clock_bound: query.take_clock_bound()?,
            prefix: query.take_prefix()?,
            connect_timeout: query.take_connect_timeout()?,
            ..RedisOptions::default()
        })
    }
}

/// Refuses a set of servers that is no quorum. An even number of servers survives no more failures
/// than the odd number below it. A server that is named twice would have two votes.
fn refuse_a_bad_set(nodes: &[RedisUrl]) -> Result<(), BadStoreUrl> {
    if nodes.len().is_multiple_of(2) || !(3..=9).contains(&nodes.len()) {
        return Err(BadStoreUrl::BadQuorum(nodes.len()));
    }
    let mut seen = BTreeSet::new();
    for node in nodes {
        let shown = canonical(node);
        if !seen.insert(shown.clone()) {
            return Err(BadStoreUrl::SameNodeTwice(shown));
        }
    }
    Ok(())
}

/// The address of a node in one of the forms that mean the same: a name of a host in any case, with
/// a dot at its end or without, and an IPv6 address with its zeros or without.
fn canonical(node: &RedisUrl) -> String {
    let RedisAddress::Tcp { host, port, .. } = &node.address else { return address(node) };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let host = host.parse().map_or(host, |address: Ipv6Addr| address.to_string());
    format!("{}:{port}", show_host(&host))
}

fn address(node: &RedisUrl) -> String {
    match &node.address {
        RedisAddress::Tcp { host, port, .. } => format!("{}:{port}", show_host(host)),
        RedisAddress::Unix(path) => path.display().to_string(),
    }
}

impl fmt::Display for QuorumUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.nodes.first() else { return f.write_str("redis+quorum://") };
        let tls = matches!(first.address, RedisAddress::Tcp { tls: true, .. });
        let scheme = if tls { "rediss+quorum" } else { "redis+quorum" };
        let user = show_user(first.user.as_deref().filter(|_| first.password.is_some()));
        let nodes: Vec<_> = self.nodes.iter().map(address).collect();
        write!(f, "{scheme}://{user}{}/{}", nodes.join(","), first.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{Password, StoreUrl};

    fn quorum(text: &str) -> QuorumUrl {
        match StoreUrl::parse(text) {
            Ok(StoreUrl::Quorum(url)) => url,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn refusal(text: &str) -> String {
        StoreUrl::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn the_nodes_share_login_database_and_options() {
        let url = quorum("redis+quorum://ann:p%40ss@a,b:7000,[::1]:7001/3?prefix=x%3A");
        let shown: Vec<_> = url.nodes.iter().map(address).collect();
        assert_eq!(shown, ["a:6379", "b:7000", "[::1]:7001"]);
        for node in &url.nodes {
            assert_eq!(node.user.as_deref(), Some("ann"));
            assert_eq!(node.password.as_ref().map(Password::reveal), Some("p@ss"));
            assert_eq!(node.database, 3);
        }
        assert_eq!(url.options.prefix.as_deref(), Some("x:"));
        assert_eq!(url.options.restart_guard, Some(RestartGuard::ON));
        assert_eq!(url.to_string(), "redis+quorum://ann@a:6379,b:7000,[::1]:7001/3");
    }

    #[test]
    fn the_number_of_nodes_is_odd_from_3_to_9() {
        for (count, is_good) in (1..=11).zip((1..=11).map(|n| n % 2 == 1 && (3..=9).contains(&n))) {
            let hosts: Vec<_> = (0..count).map(|n| format!("h{n}")).collect();
            let text = format!("redis+quorum://{}", hosts.join(","));
            assert_eq!(StoreUrl::parse(&text).is_ok(), is_good, "{text}");
        }
        assert!(refusal("redis+quorum://a,b").contains("odd number"));
    }

    #[test]
    fn the_same_node_twice_is_refused() {
        for text in ["redis+quorum://a,b,a", "redis+quorum://a:6379,b,A", "redis+quorum://a,b,A."] {
            assert!(refusal(text).contains("a:6379 twice"), "{text}");
        }
        let same_address = "redis+quorum://[::1],b,[0:0:0:0:0:0:0:1]:6379";
        assert!(refusal(same_address).contains("[::1]:6379 twice"));
        quorum("redis+quorum://a:1,a:2,a:3");
    }

    #[test]
    fn the_guard_is_on_off_or_a_duration() {
        let guard = |text: &str| {
            quorum(&format!("redis+quorum://a,b,c?restart-guard={text}")).options.restart_guard
        };
        assert_eq!(guard("off"), None);
        assert_eq!(guard("on"), Some(RestartGuard::ON));
        assert_eq!(guard("2m"), RestartGuard::new(std::time::Duration::from_secs(120)));
        for text in ["", "1ms", "31h", "maybe"] {
            let error = refusal(&format!("redis+quorum://a,b,c?restart-guard={text}"));
            assert!(error.contains("restart-guard") && error.contains("125ms"), "{error}");
        }
    }

    #[test]
    fn what_makes_no_sense_here_is_unknown_here() {
        for text in ["replicated=1", "db=3", "nonsense=1"] {
            let error = refusal(&format!("redis+quorum://a,b,c?{text}"));
            assert!(error.contains("restart-guard, clock-bound"), "{error}");
        }
    }

    #[test]
    fn no_refusal_repeats_a_password() {
        for text in [
            "redis+quorum://u:secret@a,b",
            "redis+quorum://u:secret@a,b,b",
            "redis+quorum://u:secret@a,b,c:x",
            "redis+quorum://u:secret@a,b,c?x=1",
        ] {
            assert!(!refusal(text).contains("secret"), "{text}");
        }
    }
}
