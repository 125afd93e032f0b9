//! An HTTP service that does at most three pieces of work at a time for each tenant, in all its
//! processes together. docs/guide/service.md explains it. The example uses no framework, so that
//! all of it can be seen.
//!
//! `cargo run -p seinpaal --example service -- 127.0.0.1:8080 redis://localhost`, and the same on
//! another port; then `curl -X POST '127.0.0.1:8080/jobs/ann?ms=500'`.
//!
//! | status | cause |
//! |---|---|
//! | 200 | done, under a permit all the time |
//! | 404 | no such path, or a tenant that is no name |
//! | 409 | somebody ended the permit while the work went on, which was stopped |
//! | 429 | the tenant's permits were all in use for as long as we wait |
//! | 500 | the permit was lost otherwise and the work stopped, or the store refused the request |
//! | 503 | the store did not answer, or this process shuts down |

use std::{collections::BTreeMap, env, error::Error, sync::Arc, time::Duration};

use seinpaal::{AcquireError, Lost, Permit, Seinpaal};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    signal::unix::{SignalKind, signal},
    sync::Mutex,
    task::JoinSet,
    time::{sleep, timeout},
};

/// How many pieces of work a tenant may have going on, in all processes together.
const LIMIT: u32 = 3;
/// How long a request waits for its turn. A client that hangs up earlier costs nothing, because its
/// request leaves the line.
const WAIT: Duration = Duration::from_secs(2);
/// How long requests that have begun may go on after the service was told to end.
const GRACE: Duration = Duration::from_secs(20);
/// The longest head of a request, in bytes.
const MOST: u64 = 8 << 10;

/// The values that all requests of this process share. There is one connection, and not one for
/// each request.
struct Service {
    seinpaal: Seinpaal,
    statuses: Mutex<BTreeMap<u16, u64>>,
}

struct Answer {
    status: u16,
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let listen = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let store = arguments.next().unwrap_or_else(|| "redis://localhost".into());

    let seinpaal = Seinpaal::connect(&store).await?;
    let service = Arc::new(Service { seinpaal, statuses: Mutex::default() });
    let listener = TcpListener::bind(listen).await?;
    println!("listening on {}", listener.local_addr()?);

    let mut requests = JoinSet::new();
    let mut told_to_end = signal(SignalKind::terminate())?;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                requests.spawn(Arc::clone(&service).serve(stream));
            }
            Some(_) = requests.join_next(), if !requests.is_empty() => {}
            _ = told_to_end.recv() => break,
        }
    }
    service.end(listener, requests).await
}

impl Service {
    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let (reader, mut writer) = stream.split();
        let mut head = BufReader::new(reader.take(MOST)).lines();
        let Ok(Some(request)) = head.next_line().await else { return };
        while let Ok(Some(line)) = head.next_line().await {
            if line.is_empty() {
                break;
            }
        }
        let answer = self.answer(&request).await;
        *self.statuses.lock().await.entry(answer.status).or_default() += 1;
        // A client that has hung up does not need the answer.
        let _ = writer.write_all(answer.encode().as_bytes()).await;
    }

    async fn answer(&self, request: &str) -> Answer {
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match (method, path.strip_prefix("/jobs/")) {
            ("POST", Some(tenant)) => {
                let milliseconds = query.strip_prefix("ms=").and_then(|ms| ms.parse().ok());
                self.work(tenant, Duration::from_millis(milliseconds.unwrap_or(100))).await
            }
            ("GET", None) if path == "/statistics" => {
                Answer::new(200, format!("{:?}", self.seinpaal.statistics()))
            }
            _ => Answer::new(404, "POST /jobs/TENANT?ms=N, or GET /statistics"),
        }
    }

    /// Does one job: waits for a permit, works for as long as it is held, and reports the result.
    async fn work(&self, tenant: &str, length: Duration) -> Answer {
        let tenant = self.seinpaal.semaphore(&format!("tenant/{tenant}")).limit(LIMIT);
        let permit = match tenant.acquire().timeout(WAIT).await {
            Ok(permit) => permit,
            Err(error) => return Answer::refused(&error),
        };
        match permit.while_held(do_work(&permit, length)).await {
            // The permit goes back in the background when it is dropped, so the client does not
            // wait for the store.
            Ok(text) => Answer::new(200, text),
            Err(lost) => Answer::lost(lost),
        }
    }

    /// Takes no new requests, lets the requests that have begun end, and gives back the rest.
    async fn end(
        self: Arc<Self>,
        listener: TcpListener,
        mut requests: JoinSet<()>,
    ) -> Result<(), Box<dyn Error>> {
        drop(listener);
        let all = async { while requests.join_next().await.is_some() {} };
        if timeout(GRACE, all).await.is_err() {
            eprintln!("{} requests were still under way", requests.len());
        }
        // A request that still waits learns that the connection is closed, and answers 503.
        if let Err(error) = self.seinpaal.close().await {
            eprintln!("{error}");
        }
        for (status, count) in self.statuses.lock().await.iter() {
            println!("{status}: {count}");
        }
        Ok(())
    }
}

/// The work of the service. It sends the fence with every change that it makes. So it does no harm
/// if it is stopped for so long that another holder has its place: docs/guide/fencing.md.
async fn do_work(permit: &Permit, length: Duration) -> String {
    sleep(length).await;
    format!("done in slot {} with fence {}", permit.slot(), permit.fence())
}

impl Answer {
    fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    fn refused(error: &AcquireError) -> Self {
        let status = match error {
            error if error.is_busy() => 429,
            error if error.is_unavailable() => 503,
            AcquireError::Name(_) => 404,
            _ => 500,
        };
        Self::new(status, error.to_string())
    }

    fn lost(lost: Lost) -> Self {
        let status = match lost {
            Lost::Ended(_) => 409,
            Lost::Closed => 503,
            _ => 500,
        };
        Self::new(status, format!("the work was stopped, because its permit was lost: {lost}"))
    }

    fn encode(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            404 => "Not Found",
            409 => "Conflict",
            429 => "Too Many Requests",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let (status, text) = (self.status, &self.text);
        let retry = if matches!(status, 429 | 503) { "Retry-After: 1\r\n" } else { "" };
        let length = text.len() + 1;
        format!(
            "HTTP/1.1 {status} {reason}\r\n{retry}Connection: close\r\n\
             Content-Length: {length}\r\n\r\n{text}\n"
        )
    }
}
