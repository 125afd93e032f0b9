//! Text that people write.

use std::time::Duration;

use seinpaal_proto::{About, Name, RenewalPromise, Slots, Ticket};
use seinpaal_store::url::{LONGEST_DURATION, RedisOptions, RestartGuard, StoreUrl, parse_duration};

use crate::must_be_one_line;

/// The password in the seeds.
const SECRET: &str = "hunter2";

pub(crate) fn url(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let may_be_seen = text.matches(SECRET).count() != 1 || !is_password(text);
    match StoreUrl::parse(text) {
        Ok(url) => {
            must_be_one_line(&url);
            assert!(may_be_seen || !format!("{url} {url:?}").contains(SECRET), "{url:?}");
            let bare = without_login_and_options(url);
            assert_eq!(StoreUrl::parse(&bare.to_string()), Ok(bare.clone()), "{bare}");
        }
        Err(bad) => {
            must_be_one_line(&bad);
            assert!(may_be_seen || !format!("{bad} {bad:?}").contains(SECRET), "{bad:?}");
        }
    }
}

/// Returns whether the secret stands where a URL has its password, and nowhere else. A store in
/// memory has no password: the text after its scheme is a label, which may be shown.
fn is_password(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let login = place.rsplit_once('@').map_or("", |(login, _)| login);
    let password = login.split_once(':').map_or("", |(_, password)| password);
    let is_in_memory = scheme.eq_ignore_ascii_case("memory");
    !is_in_memory && !scheme.contains(SECRET) && password.contains(SECRET)
}

/// Removes the login and the options. The text form has neither, so that it can be shown.
fn without_login_and_options(mut url: StoreUrl) -> StoreUrl {
    let is_quorum = matches!(url, StoreUrl::Quorum(_));
    if let Some(options) = url.redis_options_mut() {
        *options = RedisOptions::default();
        options.restart_guard = is_quorum.then_some(RestartGuard::ON);
    }
    match &mut url {
        StoreUrl::Redis(url) => (url.user, url.password) = (None, None),
        StoreUrl::Cluster(url) => (url.user, url.password) = (None, None),
        StoreUrl::Quorum(url) => {
            url.nodes.iter_mut().for_each(|node| (node.user, node.password) = (None, None));
        }
        StoreUrl::Sentinel(url) => {
            (url.user, url.password) = (None, None);
            (url.sentinel_user, url.sentinel_password) = (None, None);
        }
        StoreUrl::Zookeeper(url) => {
            url.login = None;
            (url.session, url.connect_timeout) = (None, None);
        }
        _ => {}
    }
    url
}

pub(crate) fn duration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_duration(text) {
        Ok(duration) => {
            assert!(duration <= LONGEST_DURATION);
            let nanos = duration.as_nanos();
            let seconds = format!("{}.{:09}s", nanos / 1_000_000_000, nanos % 1_000_000_000);
            assert_eq!(parse_duration(&seconds), Ok(duration), "{text:?}");
            let _ = RestartGuard::new(duration).map(RestartGuard::longest_ttl);
            let _: Duration = RestartGuard::for_ttl(duration);
        }
        Err(bad) => must_be_one_line(bad),
    }
}

pub(crate) fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Name::new(text) {
        Ok(name) => {
            assert_eq!(name.as_str(), text);
            must_be_one_line(name);
        }
        Err(bad) => must_be_one_line(bad),
    }
}

pub(crate) fn slots(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = match text.parse::<Slots>() {
        Ok(slots) => slots,
        Err(bad) => return must_be_one_line(bad),
    };
    assert_eq!(parsed.to_string().parse().as_ref(), Ok(&parsed));
    let total: u64 = parsed.ranges().iter().map(|(first, last)| u64::from(last - first) + 1).sum();
    assert_eq!(u64::from(parsed.count()), total);
    let apart = |pair: &[(u32, u32)]| u64::from(pair[0].1) + 1 < u64::from(pair[1].0);
    assert!(parsed.ranges().windows(2).all(apart), "{parsed}");
    take_and_give_back(&parsed);
}

fn take_and_give_back(all: &Slots) {
    let (mut rest, count) = (all.clone(), all.count());
    let lowest = rest.split_lowest(count / 2);
    assert_eq!((lowest.count(), rest.count()), (count / 2, count - count / 2));
    assert!(all.contains(&lowest) && all.contains(&rest));
    rest.extend(&lowest);
    assert_eq!(&rest, all);
    assert_eq!(&rest.take(all), all);
    assert!(rest.is_empty());
}

pub(crate) fn about(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let about = About::decode(text);
    assert_eq!(About::decode(&about.encode()), about);
    let promise = RenewalPromise::of(text);
    assert_eq!(RenewalPromise::of(&(about.encode() + &promise.mark())), promise);
}

pub(crate) fn ticket(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<Ticket>() {
        Ok(ticket) => assert_eq!(ticket.to_string(), text),
        Err(bad) => must_be_one_line(bad),
    }
}
