//! What the tests have in common that compare a script with its ledger on random histories: who
//! listens, how a history with a difference is found and made short, and mistakes in the script.

use std::{fmt::Debug, ops::Range, sync::Arc};

use redis::{AsyncConnectionConfig, PushInfo, PushKind, Value, aio::MultiplexedConnection};
use seinpaal::store::redis::EditLua;
use seinpaal_proto::Inbox;
use seinpaal_rig::RedisServer;
use tokio::sync::mpsc;

/// How often a history is run again if a call had no answer, because the machine stood still.
const MOST_REPEATED: usize = 20;

/// As many histories as CI has time for. Set the variable to look further.
pub(crate) fn histories() -> u64 {
    std::env::var("SEINPAAL_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

/// Runs histories of events on a server and on the ledger.
pub(crate) trait Comparison<E> {
    /// Runs a history on a clean server and a new ledger. Returns their first difference.
    async fn difference_now(&mut self, history: &[E]) -> Option<String>;

    /// Whether a call of the last history had no answer in time.
    fn is_unsure(&self) -> bool;

    /// As `difference_now`, but sure.
    async fn difference(&mut self, history: &[E]) -> Option<String> {
        for _ in 0..MOST_REPEATED {
            let difference = self.difference_now(history).await;
            if difference.is_none() || !self.is_unsure() {
                return difference;
            }
        }
        Some("the server does not answer".to_owned())
    }

    /// Whether a shorter history with this difference is one that a client could bring about.
    fn is_possible(_difference: &str) -> bool {
        true
    }
}

/// The first seed whose history shows a difference, and the history.
pub(crate) async fn first_different<E>(
    bench: &mut impl Comparison<E>,
    seeds: Range<u64>,
    draw: impl Fn(u64) -> Vec<E>,
) -> Option<(u64, Vec<E>, String)> {
    for seed in seeds {
        let history = draw(seed);
        if let Some(found) = bench.difference(&history).await {
            return Some((seed, history, found));
        }
    }
    None
}

/// Runs the histories of these seeds. Panics with the first one that shows a difference, made short.
pub(crate) async fn compare<E: Clone + Debug>(
    bench: &mut impl Comparison<E>,
    seeds: Range<u64>,
    draw: impl Fn(u64) -> Vec<E>,
) {
    let Some((seed, history, found)) = first_different(bench, seeds, draw).await else { return };
    let short = shorten(bench, history).await;
    let difference = bench.difference(&short).await;
    let difference = difference.unwrap_or_else(|| format!("only at first: {found}"));
    let events: Vec<_> = short.iter().map(|event| format!("{event:?}")).collect();
    let events = events.join("\n");
    panic!("seed {seed}: the script differs from the ledger\n{events}\n{difference}");
}

/// Removes events for as long as a difference stays.
async fn shorten<E: Clone, B: Comparison<E>>(bench: &mut B, mut history: Vec<E>) -> Vec<E> {
    let mut size = history.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < history.len() {
            let end = (at + size).min(history.len());
            let shorter = [&history[..at], &history[end..]].concat();
            if bench.difference(&shorter).await.is_some_and(|found| B::is_possible(&found)) {
                history = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    history
}

/// A client begins or ceases to listen at its inbox.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ear {
    Opens(Inbox),
    Shuts(Inbox),
}

impl Ear {
    /// Opens the ear of this client if it is shut, and shuts it otherwise.
    pub(crate) fn turn(inbox: Inbox, open: &mut Vec<Inbox>) -> Self {
        let ear = if open.contains(&inbox) { Self::Shuts(inbox) } else { Self::Opens(inbox) };
        ear.note(open);
        ear
    }

    /// Notes which ears are open.
    pub(crate) fn note(self, open: &mut Vec<Inbox>) {
        match self {
            Self::Opens(inbox) => open.push(inbox),
            Self::Shuts(inbox) => open.retain(|it| *it != inbox),
        }
    }
}

/// Connections that listen at inboxes for the clients of a history, and one that hears all messages.
pub(crate) struct Ears {
    pub(crate) listening: MultiplexedConnection,
    pub(crate) observer: MultiplexedConnection,
    heard: mpsc::UnboundedReceiver<PushInfo>,
}

impl Ears {
    pub(crate) async fn at(server: &RedisServer) -> Self {
        let (listening, _) = connect(server).await;
        let (mut observer, heard) = connect(server).await;
        observer.psubscribe("seinpaal:inbox:*").await.unwrap();
        Self { listening, observer, heard }
    }

    pub(crate) async fn turn(&mut self, ear: Ear) {
        match ear {
            Ear::Opens(inbox) => self.listening.subscribe(channel(inbox)).await.unwrap(),
            Ear::Shuts(inbox) => self.listening.unsubscribe(channel(inbox)).await.unwrap(),
        }
    }

    /// The messages that were published before now, with their inboxes. On one connection a message
    /// comes before a later answer.
    pub(crate) async fn messages(&mut self) -> Vec<(Inbox, Vec<u8>)> {
        redis::cmd("PING").exec_async(&mut self.observer).await.unwrap();
        let mut messages = Vec::new();
        while let Ok(push) = self.heard.try_recv() {
            if push.kind == PushKind::PMessage
                && let [_, Value::BulkString(channel), Value::BulkString(message)] = &push.data[..]
            {
                let inbox = std::str::from_utf8(channel).unwrap().rsplit(':').next().unwrap();
                messages.push((inbox.parse().unwrap(), message.clone()));
            }
        }
        messages
    }
}

/// Sorts notifications. Nobody promises an order between clients.
pub(crate) fn sorted<T: Debug>(mut notifications: Vec<T>) -> Vec<T> {
    notifications.sort_by_key(|each| format!("{each:?}"));
    notifications
}

fn channel(inbox: Inbox) -> String {
    format!("seinpaal:inbox:{inbox}")
}

async fn connect(
    server: &RedisServer,
) -> (MultiplexedConnection, mpsc::UnboundedReceiver<PushInfo>) {
    let client = redis::Client::open(server.socket_url("?protocol=resp3")).unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let config = AsyncConnectionConfig::new().set_push_sender(sender).set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    (connection, receiver)
}

/// A mistake in a line of a script.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    Dropped,
    Negated,
    OffByOne,
}

impl Mistake {
    /// The line with this mistake, or `None` if there is nothing in it that could be mistaken so.
    fn made_in(self, line: &str) -> Option<String> {
        let code = line.split(" -- ").next().filter(|code| !code.trim_start().starts_with("--"))?;
        match self {
            Self::Dropped => {
                let is_whole =
                    !["function", "if ", "else", "end", "repeat", "until", "for ", "while "]
                        .iter()
                        .any(|word| code.contains(word));
                let is_statement =
                    code.contains(" = ") && !code.contains("local ") || code.contains('(');
                let is_closed = code.matches('(').count() == code.matches(')').count()
                    && !code.trim_end().ends_with([',', '=', '.', '{'])
                    && !code.trim_start().starts_with(['.', '}', ')']);
                (is_whole && is_statement && is_closed && !code.contains("return"))
                    .then(String::new)
            }
            Self::Negated => {
                let pairs = [
                    (" == ", " ~= "),
                    (" ~= ", " == "),
                    (" <= ", " > "),
                    (" >= ", " < "),
                    (" < ", " >= "),
                    (" > ", " <= "),
                    (" and ", " or "),
                ];
                let (from, to) = pairs.into_iter().find(|(from, _)| code.contains(from))?;
                Some(code.replacen(from, to, 1))
            }
            Self::OffByOne => {
                let at = code.find(" + 1").or_else(|| code.find(" - 1"))?;
                Some(format!("{} + 0{}", &code[..at], &code[at + 4..]))
            }
        }
    }
}

/// Makes mistakes in one line of so many of a script, in other lines each night, because all of
/// them take hours. Asks of each whether it is noticed, and panics if more than a fifth is not.
/// `script` is the text of its files, one after the other.
pub(crate) async fn make_mistakes(
    script: &str,
    parts: usize,
    mut is_noticed: impl AsyncFnMut(EditLua) -> bool,
) {
    let day = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let part = day as usize % parts;
    let (mut made, mut unnoticed) = (0, Vec::new());
    for (number, line) in script.lines().enumerate().filter(|(number, _)| number % parts == part) {
        for mistake in [Mistake::Dropped, Mistake::Negated, Mistake::OffByOne] {
            let Some(mistaken) = mistake.made_in(line) else { continue };
            made += 1;
            if !is_noticed(edit(number, mistake)).await {
                unnoticed.push(format!("line {number}, {mistake:?}: {line} became {mistaken}"));
            }
        }
    }
    println!("{made} mistakes, {} unnoticed: {unnoticed:#?}", unnoticed.len());
    assert!(5 * unnoticed.len() <= made, "more than a fifth went unnoticed");
}

/// Makes a mistake in the line with this number, counted over the files of each script.
fn edit(number: usize, mistake: Mistake) -> EditLua {
    Arc::new(move |source: &str| {
        let line = |(at, line): (usize, &str)| match at == number {
            true => mistake.made_in(line).unwrap_or_else(|| line.to_owned()),
            false => line.to_owned(),
        };
        source.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
    })
}
