//! The log at its most detailed level has names, tickets, kinds and sizes, and never a payload or a
//! value.

use std::{
    cell::Cell,
    fmt::{Debug, Write},
    sync::{Mutex, Once, OnceLock},
    time::Duration,
};

use seinpaal::{Push, Seinpaal};
use tracing::{
    Event, Instrument, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_core::span::Current;

use seinpaal_rig::RedisServer;

const SECRET: &str = "qzj-payload-of-ann";

/// Every line that was logged in this process.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LISTENS: Once = Once::new();

/// The span of the one test that has one, and how often this thread is inside it.
static SPAN: OnceLock<&'static Metadata<'static>> = OnceLock::new();
thread_local! { static INSIDE: Cell<u32> = const { Cell::new(0) }; }

struct Listener;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    /// Only one span is ever made: see `SPAN`.
    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let _ = SPAN.set(attributes.metadata());
        span::Id::from_u64(1)
    }

    fn current_span(&self) -> Current {
        match SPAN.get().filter(|_| INSIDE.get() > 0) {
            Some(metadata) => Current::new(span::Id::from_u64(1), metadata),
            None => Current::none(),
        }
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut line = Line(format!("{} {}", metadata.level(), metadata.target()));
        if INSIDE.get() > 0 {
            line.0.push_str(" (inside)");
        }
        event.record(&mut line);
        LINES.lock().expect("whole").push(line.0);
    }

    fn enter(&self, _: &span::Id) {
        INSIDE.set(INSIDE.get() + 1);
    }

    fn exit(&self, _: &span::Id) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

fn listen() {
    LISTENS.call_once(|| tracing::subscriber::set_global_default(Listener).expect("the first"));
}

fn lines_with(text: &str) -> Vec<String> {
    let lines = LINES.lock().expect("whole");
    lines.iter().filter(|line| line.contains(text)).cloned().collect()
}

/// Uses every way in which a payload or a value gets into this process and out of it.
async fn use_secrets(seinpaal: &Seinpaal, queue: &str) -> Result<(), Box<dyn std::error::Error>> {
    let queue = seinpaal.queue(queue);
    tracing::trace!(target: "test", "{:?} {:?}", queue.push(SECRET), Push::new(SECRET));
    queue.push(SECRET).group("g").dedup("k", Duration::from_secs(9)).await?;
    for pushed in queue.push_all([Push::new(SECRET), Push::new(SECRET).deliveries(1)]).await {
        pushed?;
    }
    queue.pop().await?.give_back(Duration::ZERO).await?;
    queue.pop().await?.acknowledge().await?;
    for item in queue.pop_many(2).await? {
        tracing::trace!(target: "test", "{item:?}");
        item.fail("no", Duration::ZERO).await?;
    }
    tracing::trace!(target: "test", "{:?}", queue.snapshot().await?);
    Ok(())
}

fn assert_no_secret(name: &str) {
    assert!(!lines_with(name).is_empty(), "something is logged of {name}");
    let bytes = SECRET.as_bytes();
    let decimal = format!("{}, {}, {}, {}", bytes[0], bytes[1], bytes[2], bytes[3]);
    for form in [SECRET, &decimal] {
        assert_eq!(lines_with(form), Vec::<String>::new());
    }
}

#[tokio::test]
async fn no_payload_and_no_value_is_ever_logged() -> Result<(), Box<dyn std::error::Error>> {
    listen();
    let server = RedisServer::start();
    for (url, queue) in
        [("memory:logs".to_owned(), "logged m"), (server.socket_url(""), "logged r")]
    {
        let seinpaal = Seinpaal::connect(&url).await?;
        use_secrets(&seinpaal, queue).await?;
        assert_no_secret(queue);
        let given_back = lines_with("message=giving back");
        let is_whole = |line: &String| line.contains(" item=") && line.contains(" fence=");
        let is_told = |line: &String| line.contains(queue) && is_whole(line);
        assert_eq!(given_back.iter().filter(|line| is_told(line)).count(), 1, "{given_back:?}");
    }
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await?;
    let permit = seinpaal.semaphore("logged w").acquire().await?;
    let write = |tx: &mut seinpaal::CommandGroup| {
        tx.set("logged w", SECRET);
    };
    permit.guarded(write).await?;
    permit.release().await?;
    assert_no_secret("logged w");
    Ok(())
}

#[tokio::test]
async fn what_happens_to_a_ticket_is_logged_with_its_name_and_the_ticket_as_people_see_it() {
    listen();
    let seinpaal = Seinpaal::in_memory();
    let name = seinpaal.semaphore("logged t");
    let permit = name.acquire().await.expect("granted");
    let ticket = permit.ticket();
    name.evict(ticket).await.expect("evicted");
    permit.lost().await;
    let said = lines_with(&ticket.to_string());
    let is_said = |what: &str| said.iter().any(|line| line.contains(what));
    assert!(is_said("message=acquired") && is_said("message=lost"), "{said:?}");
    let is_named = |line: &String| line.contains("name=\"logged t\"");
    assert!(said.iter().all(is_named), "{said:?}");
}

#[tokio::test]
async fn an_outage_is_a_warning_when_it_begins_and_one_when_it_ends() {
    listen();
    let mut server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
    let name = seinpaal.semaphore("logged o");
    server.kill();
    for _ in 0..5 {
        assert!(name.try_acquire().timeout(Duration::from_millis(300)).await.is_err());
    }
    server.start_again();
    name.acquire().await.expect("granted").release().await.expect("released");
    let address = server.socket_url("");
    let address = address.split('?').next().expect("an address");
    let began = lines_with("WARN seinpaal message=the store does not answer");
    let of_ours = began.iter().filter(|line| line.contains(address)).count();
    assert_eq!(of_ours, 1, "{began:?}");
    assert!(!lines_with("WARN seinpaal message=the store answers again").is_empty());
}

#[tokio::test]
async fn what_becomes_of_a_request_is_logged_inside_the_span_of_its_caller() {
    listen();
    let server = RedisServer::start();
    let span = tracing::info_span!("request");
    let urls = ["memory:spans".to_owned(), server.socket_url("")];
    for (url, name) in urls.into_iter().zip(["logged in m", "logged in r"]) {
        let semaphore = Seinpaal::connect(&url).await.expect("connected").semaphore(name);
        let permit = semaphore.acquire().instrument(span.clone()).await.expect("granted");
        let refused = semaphore.try_acquire().instrument(span.clone()).await;
        assert!(refused.expect("asked").is_none());
        for what in ["message=acquired", "message=refused"] {
            let said = lines_with(&format!("name=\"{name}\""));
            let is_it = |line: &&String| line.contains(what) && line.contains("(inside)");
            assert_eq!(said.iter().filter(is_it).count(), 1, "{what}: {said:?}");
        }
        drop(permit);
    }
}
