//! A site on a port of its own, and a client that sends exactly what it is told to.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{io, time::Duration};

use axum::Router;
use seinpaal::{Acquire, Seinpaal};
use seinpaal_serve::{Dashboard, Options};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

/// Nothing here takes that long, not even on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Pages on a port, until it is dropped.
pub(crate) struct Site {
    port: u16,
    task: JoinHandle<io::Result<()>>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

/// A stream of events.
pub(crate) struct Stream {
    socket: TcpStream,
}

impl Site {
    pub(crate) async fn open(seinpaal: Seinpaal, options: Options) -> Fallible<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let router = Dashboard::new(seinpaal, options)?.router();
        Ok(Self { port, task: tokio::spawn(seinpaal_serve::serve(listener, router, 4096)) })
    }

    /// A service that has the pages among its own, served as such a service would.
    pub(crate) async fn around(service: Router) -> Fallible<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let serving = async move { axum::serve(listener, service).await };
        Ok(Self { port, task: tokio::spawn(serving) })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) async fn get(&self, address: &str) -> Fallible<Answer> {
        self.ask(&format!("GET {address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            .await
    }

    pub(crate) async fn post(&self, form: &str) -> Fallible<Answer> {
        self.post_to("/act", form).await
    }

    pub(crate) async fn post_to(&self, address: &str, form: &str) -> Fallible<Answer> {
        self.ask(&format!("POST {address} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{form}", form.len())).await
    }

    /// Asks as a program does.
    pub(crate) async fn call(&self, method: &str, address: &str, body: &str) -> Fallible<Answer> {
        self.ask(&program_request(method, address, "", body, "close")).await
    }

    /// Asks as a program does, with a key.
    pub(crate) async fn call_with_key(
        &self,
        key: &str,
        address: &str,
        body: &str,
    ) -> Fallible<Answer> {
        let key = format!("Idempotency-Key: {key}\r\n");
        self.ask(&program_request("POST", address, &key, body, "close")).await
    }

    /// Begins a request that can be left, and whose answer is read while it comes.
    pub(crate) async fn begin(&self, method: &str, address: &str, body: &str) -> Fallible<Stream> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let request = program_request(method, address, "", body, "keep-alive");
        socket.write_all(request.as_bytes()).await?;
        Ok(Stream { socket })
    }

    /// Sends these bytes, and reads until the other side closes.
    pub(crate) async fn ask(&self, request: &str) -> Fallible<Answer> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).await?;
        socket.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        timeout(BOUND, socket.read_to_end(&mut bytes)).await??;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no head")?;
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    pub(crate) async fn stream(&self, address: &str) -> Fallible<Stream> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let request = format!("GET {address} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        socket.write_all(request.as_bytes()).await?;
        Ok(Stream { socket })
    }
}

fn program_request(method: &str, address: &str, more: &str, body: &str, after: &str) -> String {
    let length = body.len();
    format!(
        "{method} {address} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\nConnection: {after}\r\n\r\n{body}"
    )
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A site that programs may use, too, and where people may act.
pub(crate) async fn programs(seinpaal: &Seinpaal) -> Fallible<Site> {
    let options = Options { api: true, allow_actions: true, ..Options::default() };
    Site::open(seinpaal.clone(), options).await
}

/// The answer to a program, read as JSON.
pub(crate) fn object(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body))
}

/// The word by which programs tell problems apart.
pub(crate) fn problem(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{}", answer.body);
    let kind = object(answer)["type"].as_str().unwrap_or_default().to_owned();
    (answer.status, kind.trim_start_matches("urn:seinpaal:").to_owned())
}

impl Stream {
    /// Reads until what came since the last call is as wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&str) -> bool) -> Fallible<String> {
        let mut bytes = Vec::new();
        loop {
            let mut buffer = [0; 8192];
            let read = timeout(BOUND, self.socket.read(&mut buffer)).await??;
            if read == 0 {
                return Err("the stream ended".into());
            }
            bytes.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if wanted(&text) {
                return Ok(text);
            }
        }
    }
}

/// Waits until so many permits are held and so many tickets wait. Each look is an answer of the
/// store, so there are no pauses between looks.
pub(crate) async fn until(
    seinpaal: &Seinpaal,
    name: &str,
    held: u32,
    waiting: u32,
) -> Fallible<()> {
    let looking = async {
        loop {
            let seen = seinpaal.semaphore(name).snapshot().await?;
            if (seen.permits_held, seen.waiting_total) == (held, waiting) {
                return Ok(());
            }
        }
    };
    timeout(BOUND, looking).await?
}

/// A request that waits in line; it leaves when the task is dropped with its runtime.
pub(crate) async fn waiting(request: Acquire) -> JoinHandle<()> {
    let (queued, is_in_line) = oneshot::channel();
    let request = request.on_queued(move |_| {
        let _ = queued.send(());
    });
    let task = tokio::spawn(async move {
        let held = request.await;
        // Kept, if it ever is granted.
        std::future::pending::<()>().await;
        drop(held);
    });
    // The next request is to stand behind this one.
    timeout(BOUND, is_in_line).await.expect("it is told").expect("it stands in line");
    task
}

/// The text of a page, without its tags.
pub(crate) fn text(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The secret in a form.
pub(crate) fn csrf(page: &str) -> Result<String, &'static str> {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").ok_or("no secret")?;
    rest.split('"').next().map(str::to_owned).ok_or("no secret")
}
