//! Tells people the reports of the servers of the URL: their versions, which of them leads, and
//! which are silent.
//!
//! Each server is asked `srvr` on its client port. It is the one question that a server answers to
//! every client unless it is set up otherwise.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use seinpaal_proto::time::Micros;
use seinpaal_store::{Advice, Fact, StoreError, boottime};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::core::Core;

/// The time in which a server has to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const MOST: u64 = 4096;

/// The result of a look at the servers, and at the leader's clock.
pub(super) struct EnsembleLook {
    servers: Vec<(String, ServerAnswer)>,
    clock: Option<Fact>,
}

#[derive(PartialEq)]
enum ServerAnswer {
    /// No server answers at the port, or the server says that it has lost its ensemble.
    Silent,
    /// A server answers, but not this question.
    Mute,
    Said {
        version: String,
        mode: String,
    },
}

impl Core {
    /// Asks each server, and the leader for its clock.
    pub(super) async fn look_at_ensemble(&self) -> Result<EnsembleLook, StoreError> {
        let asked = self.options.url.servers.iter().map(async |(host, port)| {
            let answer = timeout(ANSWER_TIMEOUT, ask(host, *port)).await.ok().flatten();
            let answer = answer.map_or(ServerAnswer::Silent, |text| ServerAnswer::read(&text));
            (format!("{host}:{port}"), answer)
        });
        let servers = join_all(asked).await;
        let (link, began) = (self.link().await?, boottime::now());
        let there = self.now(&link, 0).await?;
        let doubt = boottime::now().saturating_sub(began);
        Ok(EnsembleLook { servers, clock: clock(there, doubt) })
    }
}

async fn ask(host: &str, port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((host, port)).await.ok()?;
    stream.write_all(b"srvr").await.ok()?;
    let mut said = Vec::new();
    // If the server hangs up, the bytes that it sent before still count.
    let _ = stream.take(MOST).read_to_end(&mut said).await;
    Some(String::from_utf8_lossy(&said).into_owned())
}

/// Returns how far the leader's clock is from this machine's. The leader tells whole milliseconds,
/// so the doubt is one millisecond greater.
fn clock(there: Micros, doubt: Micros) -> Option<Fact> {
    let here = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let there = Duration::from_micros(there);
    let (off, way) = match there.checked_sub(here) {
        Some(ahead) => (ahead, "ahead of"),
        None => (here - there, "behind"),
    };
    let off = match off.as_secs() {
        0..10 => format!("{} ms", off.as_millis()),
        seconds => format!("{seconds} s"),
    };
    let doubt = Duration::from_micros(doubt).as_millis() + 1;
    Some(Fact::new("clock", format!("{off} {way} this machine's (± {doubt} ms)")))
}

impl ServerAnswer {
    fn read(text: &str) -> Self {
        let field = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let version = field("Zookeeper version: ").and_then(|words| words.split(['-', ',']).next());
        match (version, field("Mode: ")) {
            (Some(version), Some(mode)) => {
                Self::Said { version: version.trim().to_owned(), mode: mode.trim().to_owned() }
            }
            // A server that has lost its ensemble says so.
            _ if text.contains("not currently serving requests") => Self::Silent,
            _ => Self::Mute,
        }
    }
}

impl EnsembleLook {
    pub(super) fn facts(&self) -> Vec<Fact> {
        let mut versions: Vec<&str> = Vec::new();
        let mut modes = Vec::new();
        for (server, answer) in &self.servers {
            let mode = match answer {
                ServerAnswer::Silent => "silent",
                ServerAnswer::Mute => "does not tell (srvr is not allowed)",
                ServerAnswer::Said { version, mode } => {
                    if !versions.contains(&version.as_str()) {
                        versions.push(version);
                    }
                    mode
                }
            };
            modes.push(format!("{server} {mode}"));
        }
        let version = (!versions.is_empty()).then(|| format!("ZooKeeper {}", versions.join("; ")));
        let servers = (!modes.is_empty()).then(|| modes.join("; "));
        let version = version.map(|value| Fact::new("version", value));
        let servers = servers.map(|value| Fact::new("servers", value));
        version.into_iter().chain(servers).chain(self.clock.clone()).collect()
    }

    pub(super) fn advice(&self) -> Vec<Advice> {
        let is = |wanted: ServerAnswer| move |at: &&(String, ServerAnswer)| at.1 == wanted;
        let silent = self.servers.iter().filter(is(ServerAnswer::Silent));
        let silent: Vec<_> = silent.map(|(server, _)| server.as_str()).collect();
        let alone = self.servers.iter().find(
            |(_, answer)| matches!(answer, ServerAnswer::Said { mode, .. } if mode == "standalone"),
        );
        let of_silent = (!silent.is_empty()).then(|| {
            Advice::risk(format!(
                "no answer from {}; the ensemble goes on while more than half of its servers do: check that all run and can be reached",
                silent.join(", ")
            ))
        });
        let of_alone = alone.map(|(server, _)| {
            Advice::hint(format!(
                "{server} stands alone: while it is away nobody is admitted and leases end, and data that its disk loses is lost: run three servers or five"
            ))
        });
        of_silent.into_iter().chain(of_alone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25\n\
                        Latency min/avg/max: 0/1.0/2\nMode: follower\nNode count: 5\n";

    fn look(answers: &[&str]) -> EnsembleLook {
        let read = |text: &&str| match *text {
            "" => ServerAnswer::Silent,
            text => ServerAnswer::read(text),
        };
        let servers = answers.iter().enumerate();
        let servers = servers.map(|(at, text)| (format!("zk{at}:2181"), read(text)));
        EnsembleLook { servers: servers.collect(), clock: None }
    }

    #[test]
    fn each_server_is_told_of_and_a_silent_one_is_a_risk() {
        let leader = SAID.replace("follower", "leader");
        let look = look(&[SAID, &leader, ""]);
        let told: Vec<_> = look.facts().into_iter().map(|fact| fact.value).collect();
        let servers = "zk0:2181 follower; zk1:2181 leader; zk2:2181 silent";
        assert_eq!(told, ["ZooKeeper 3.8.0", servers]);
        let [advice] = &look.advice()[..] else { panic!("{:?}", look.advice()) };
        assert!(advice.is_risk && advice.text.contains("zk2:2181"), "{advice}");
    }

    #[test]
    fn a_server_alone_is_a_hint_and_one_without_a_quorum_is_silent() {
        let alone = look(&[&SAID.replace("follower", "standalone")]);
        assert!(alone.advice().iter().all(|advice| !advice.is_risk) && alone.advice().len() == 1);
        let lost = look(&["This ZooKeeper instance is not currently serving requests\n"]);
        assert!(lost.advice()[0].is_risk);
    }

    #[test]
    fn a_server_that_may_not_tell_is_no_risk() {
        let mute = look(&["srvr is not executed because it is not in the whitelist.\n"]);
        assert_eq!(mute.advice(), []);
        assert!(mute.facts()[0].value.contains("does not tell"));
    }

    #[test]
    fn the_clock_is_told_in_milliseconds_or_seconds() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
        let told = |there| clock(there, 2000).unwrap().value;
        assert!(told(now + 3_600_500_000).starts_with("3600 s ahead of this machine's (± 3 ms)"));
        assert!(told(now - 50_000).contains("ms behind this machine's"), "{}", told(now - 50_000));
    }
}
