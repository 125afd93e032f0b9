//! Which thread sends a request. The connection's runtime stands still here unless it is told to go
//! on, so what the server is asked meanwhile was sent by the caller.

use std::time::{Duration, Instant};

use seinpaal_rig::RedisServer;
use tokio::runtime::Runtime;

use super::*;
use crate::{
    driver::plain_request::{PlainAnswer, plain_request},
    store::{self, url::StoreUrl},
};

/// How many requests are to be sent by their callers.
const SENT: u32 = 20;
/// How long the machine may be so busy that they are not.
const BOUND: Duration = Duration::from_secs(60);

/// A connection whose driver is idle.
fn connected(runtime: &Runtime, url: &str) -> Arc<Handle> {
    runtime.block_on(async {
        let config = SessionConfig::default();
        let (makings, ends) = makings(config, ClientClock::Machine, url.into()).expect("made");
        let url = StoreUrl::parse(url).expect("a URL");
        let store = store::open(url, makings.inbox, ends.news.clone()).await.expect("a server");
        tokio::spawn(makings.serve(Arc::clone(&store)));
        let handle = ends.handle(store, None);
        handle.with_store(|_| Box::pin(async {})).await.expect("served");
        handle
    })
}

fn request(handle: &Handle, number: u64) -> PlainAnswer {
    let (request, answer) = plain_request(&format!("alone-{number}"), number);
    handle.request(DriverCommand::Acquire(request));
    answer
}

/// How many scripts the server was asked for. It has taken what was there before the first of two
/// questions when it answers the second.
fn scripts(connection: &mut redis::Connection) -> u64 {
    let mut said = String::new();
    for _ in 0..2 {
        said = redis::cmd("INFO").arg("commandstats").query(connection).expect("asked");
    }
    let line = said.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.and_then(|line| line.split(',').next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn a_lone_request_is_sent_by_its_caller_while_the_connections_thread_stands_still() {
    let server = RedisServer::start();
    let url = server.socket_url("");
    let mut other = redis::Client::open(url.as_str()).unwrap().get_connection().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = connected(&runtime, &url);
    let (began, mut sent) = (Instant::now(), 0);
    for number in 1.. {
        if sent == SENT {
            break;
        }
        assert!(began.elapsed() < BOUND, "{sent} of {number} were sent by their callers");
        let before = scripts(&mut other);
        let answer = request(&handle, number);
        sent += u32::from(scripts(&mut other) == before + 1);
        runtime.block_on(answer).expect("answered").expect("granted");
    }
}
