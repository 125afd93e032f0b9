//! Finds a master through its sentinels, and hears from them when the master moves.

use std::{collections::HashMap, time::Duration};

use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};
use redis::{AsyncConnectionConfig, Value, aio::PubSub};
use tokio::{
    task::AbortHandle,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    error::{self, one_line},
    transport::{self, CommandAnswer, Commands, ROOM, TransportFault},
};
use seinpaal_store::{
    Certainty, StoreError, StoreErrorKind,
    url::{RedisAddress, RedisUrl, SentinelUrl, show_host},
};

/// How long after the first answer other answers are still heard. A later answer may know of a
/// newer master.
const GRACE: Duration = Duration::from_millis(250);
/// How often a silent sentinel is asked whether it is there. If it is not, it is tried again after
/// this time.
const CHECK_EVERY: Duration = Duration::from_secs(5);
const MOVES: &str = "+switch-master";

/// The address of the master, as a sentinel gives it.
#[derive(Debug, Eq, PartialEq)]
pub struct Sighting {
    epoch: u64,
    host: String,
    port: u16,
}

/// Finds the master through the best informed of the sentinels that answer: the one with the
/// highest configuration epoch.
pub(super) async fn find_master(
    url: &SentinelUrl,
    longest_wait: Duration,
) -> Result<RedisUrl, StoreError> {
    let ask = |(host, port): &(String, u16)| ask(url, host.clone(), *port, longest_wait);
    let mut answers: FuturesUnordered<_> = url.sentinels.iter().map(ask).collect();
    let (mut best, mut refusals): (Option<Sighting>, _) = (None, Vec::new());
    let mut until = Instant::now() + longest_wait;
    while let Ok(Some(answer)) = timeout_at(until, answers.next()).await {
        match answer {
            Ok(seen) => {
                until = until.min(Instant::now() + GRACE);
                best = Some(best.take().filter(|best| best.epoch >= seen.epoch).unwrap_or(seen));
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    match best {
        Some(seen) => Ok(url.server(seen.host, seen.port)),
        None => Err(no_answer(url, refusals)),
    }
}

/// How long the most patient of the sentinels that answer waits for a silent master.
pub(super) async fn down_after(url: &SentinelUrl, longest_wait: Duration) -> Option<Duration> {
    let ask = |(host, port): &(String, u16)| {
        let sentinel = url.sentinel(host.clone(), *port);
        async move {
            let asked = question(sentinel, &url.master, longest_wait);
            let details = timeout(longest_wait, asked).await.ok()?.ok()?.pop()?;
            let details: HashMap<String, String> = redis::from_redis_value(details).ok()?;
            details.get("down-after-milliseconds")?.parse().ok().map(Duration::from_millis)
        }
    };
    join_all(url.sentinels.iter().map(ask)).await.into_iter().flatten().max()
}

async fn ask(
    url: &SentinelUrl,
    host: String,
    port: u16,
    longest_wait: Duration,
) -> Result<Sighting, StoreError> {
    let shown = shown(&host, port);
    let asked = question(url.sentinel(host, port), &url.master, longest_wait);
    let answer = timeout(longest_wait, asked).await.unwrap_or(Err(TransportFault::Slow.into()));
    match answer.map_err(|error| error::of_connecting(&error, &shown))?.as_mut_slice() {
        [address, details] => {
            sighting(url, &shown, std::mem::take(address), std::mem::take(details))
        }
        _ => Err(is_no_sentinel(&shown)),
    }
}

async fn question(
    sentinel: RedisUrl,
    master: &str,
    longest_wait: Duration,
) -> CommandAnswer<Vec<Value>> {
    let config = AsyncConnectionConfig::new();
    let mut connection = Commands::open_resp2(&sentinel, config, longest_wait).await?;
    let mut both = redis::pipe();
    both.cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(master);
    both.cmd("SENTINEL").arg("MASTER").arg(master);
    connection.send_all(&both, 0, 2, ROOM).await
}

/// Reads the answers of a sentinel: the address of the master, and details about it.
// Used by fuzz/.
pub fn sighting(
    url: &SentinelUrl,
    shown: &str,
    address: Value,
    details: Value,
) -> Result<Sighting, StoreError> {
    if let Value::ServerError(said) = &address {
        let is_command = said.code() == "ERR";
        return Err(if is_command { is_no_sentinel(shown) } else { refused(shown, said) });
    }
    let Ok(Some((host, port))) = redis::from_redis_value::<Option<(String, u16)>>(address) else {
        return Err(knows_no_such_master(url, shown));
    };
    // A sentinel that hides its epoch is heard, but its answer overrules no other.
    let details: HashMap<String, String> = redis::from_redis_value(details).unwrap_or_default();
    let epoch = details.get("config-epoch").and_then(|epoch| epoch.parse().ok()).unwrap_or(0);
    Ok(Sighting { epoch, host, port })
}

fn shown(host: &str, port: u16) -> String {
    format!("the sentinel {}:{port}", show_host(host))
}

fn refused(shown: &str, said: &redis::ServerError) -> StoreError {
    let (kind, advice) = match said.code() {
        "NOAUTH" => {
            (StoreErrorKind::Forbidden, "wants a login: add sentinel-user and sentinel-pass")
        }
        "NOPERM" => (StoreErrorKind::Forbidden, "does not let this user ask SENTINEL questions"),
        _ => (StoreErrorKind::Unreachable, "refuses to answer"),
    };
    StoreError::new(
        kind,
        Certainty::NotExecuted,
        format!("{shown} {advice} ({})", one_line(said.code())),
    )
}

fn is_no_sentinel(shown: &str) -> StoreError {
    let message = format!(
        "{shown} answers like a server that is no sentinel: for a server itself, write redis://HOST:PORT"
    );
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

fn knows_no_such_master(url: &SentinelUrl, shown: &str) -> StoreError {
    let message =
        format!("{shown} knows no master called {:?}: check the end of the store URL", url.master);
    StoreError::new(StoreErrorKind::Misconfigured, Certainty::NotExecuted, message)
}

/// The error if no sentinel tells where the master is. A sentinel's refusal says more than the
/// silence of the others.
fn no_answer(url: &SentinelUrl, refusals: Vec<StoreError>) -> StoreError {
    let telling = refusals.iter().find(|refusal| refusal.kind() != StoreErrorKind::Unreachable);
    match telling.or_else(|| refusals.first()) {
        Some(refusal) if url.sentinels.len() == 1 || !refusal.is_passing() => refusal.clone(),
        Some(refusal) => {
            let message = format!("none of the sentinels knows where the master is: {refusal}");
            StoreError::new(refusal.kind(), Certainty::NotExecuted, message)
        }
        None => {
            let message = format!("{url}: no sentinel answers: check hosts, ports and firewall");
            StoreError::new(StoreErrorKind::Unreachable, Certainty::NotExecuted, message)
        }
    }
}

/// Tasks that listen to the sentinels, one for each. They end when this is dropped.
#[derive(Debug)]
pub(super) struct SentinelListeners(Vec<AbortHandle>);

impl Drop for SentinelListeners {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

impl SentinelListeners {
    /// Calls `on_move` with the address of the master whenever a sentinel says that it has moved.
    /// Also calls it whenever listening begins, because the master may have moved before.
    pub(super) fn start(
        url: &SentinelUrl,
        on_move: impl Fn(&RedisAddress) + Clone + Send + Sync + 'static,
    ) -> Self {
        let listen = |(host, port): &(String, u16)| {
            let sentinel = url.sentinel(host.clone(), *port);
            tokio::spawn(listen(url.clone(), sentinel, on_move.clone())).abort_handle()
        };
        Self(url.sentinels.iter().map(listen).collect())
    }
}

async fn listen(url: SentinelUrl, sentinel: RedisUrl, on_move: impl Fn(&RedisAddress)) {
    loop {
        if let Ok(Ok(moves)) = timeout(CHECK_EVERY, subscribe(&sentinel)).await {
            // The master is asked for after the subscription, because it may have moved before
            // that.
            if let Ok(master) = find_master(&url, CHECK_EVERY).await {
                on_move(&master.address);
            }
            hear(&url, moves, &on_move).await;
        }
        sleep(CHECK_EVERY).await;
    }
}

async fn subscribe(sentinel: &RedisUrl) -> CommandAnswer<PubSub> {
    let mut moves = transport::open_pubsub(sentinel, CHECK_EVERY).await?;
    moves.subscribe(MOVES).await?;
    Ok(moves)
}

/// Hears of moves until the sentinel is gone.
async fn hear(url: &SentinelUrl, moves: PubSub, on_move: &impl Fn(&RedisAddress)) {
    let (mut sink, mut messages) = moves.split();
    loop {
        match timeout(CHECK_EVERY, messages.next()).await {
            Ok(Some(message)) => {
                let text = String::from_utf8_lossy(message.get_payload_bytes()).into_owned();
                if let Some((host, port)) = moved_to(&text, &url.master) {
                    on_move(&url.server(host, port).address);
                }
            }
            Ok(None) => return,
            Err(_silence) => {
                if !matches!(timeout(CHECK_EVERY, sink.ping::<Value>()).await, Ok(Ok(_))) {
                    return;
                }
            }
        }
    }
}

/// Reads `MASTER OLD_HOST OLD_PORT NEW_HOST NEW_PORT`, and returns the new address. `None` if the
/// message is about another master.
// Used by fuzz/.
pub fn moved_to(message: &str, master: &str) -> Option<(String, u16)> {
    let mut words = message.split(' ');
    let (name, host, port) = (words.next()?, words.nth(2)?, words.next()?);
    (name == master).then_some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seinpaal_store::url::StoreUrl;

    fn url() -> SentinelUrl {
        match StoreUrl::parse("redis+sentinel://a,b/m") {
            Ok(StoreUrl::Sentinel(url)) => url,
            other => panic!("{other:?}"),
        }
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn a_move_is_heard_of_one_master_only() {
        let moved = |master| moved_to("m 10.0.0.1 6379 10.0.0.2 6380", master);
        assert_eq!(moved("m"), Some(("10.0.0.2".to_owned(), 6380)));
        assert_eq!(moved("other"), None);
        assert_eq!(moved_to("m 10.0.0.1", "m"), None);
    }

    #[test]
    fn a_sighting_has_the_epoch_of_the_sentinel_s_configuration() {
        let details = vec![text("name"), text("m"), text("config-epoch"), text("7")];
        let address = Value::Array(vec![text("10.0.0.2"), text("6380")]);
        let seen = sighting(&url(), "s", address, Value::Array(details)).unwrap();
        assert_eq!(seen, Sighting { epoch: 7, host: "10.0.0.2".into(), port: 6380 });
    }

    #[test]
    fn a_master_that_nobody_knows_is_a_wrong_url() {
        let error = sighting(&url(), "s", Value::Nil, Value::Nil).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
        assert!(error.to_string().contains("\"m\""), "{error}");
    }

    #[test]
    fn a_refusal_says_more_than_silence() {
        let error = |kind| StoreError::new(kind, Certainty::NotExecuted, "why");
        let both = vec![error(StoreErrorKind::Unreachable), error(StoreErrorKind::Forbidden)];
        assert_eq!(no_answer(&url(), both).kind(), StoreErrorKind::Forbidden);
        assert_eq!(no_answer(&url(), Vec::new()).kind(), StoreErrorKind::Unreachable);
    }
}
