//! A page that is open: its stream, read as a browser reads it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::oneshot,
    time::timeout,
};

use super::Fallible;

const BOUND: Duration = Duration::from_secs(120);

/// The text that somebody waits for, and whom to tell when it has come.
type Wanted = Arc<Mutex<Option<(String, oneshot::Sender<Instant>)>>>;

/// A stream that is read until this is dropped.
pub(super) struct Page {
    name: String,
    bytes: Arc<AtomicU64>,
    wanted: Wanted,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Page {
    pub(super) async fn open(address: &str, name: &str) -> Fallible<Self> {
        let mut socket = TcpStream::connect(address).await?;
        let name = name.to_owned();
        socket.write_all(request(&path(&name), "keep-alive").as_bytes()).await?;
        let (bytes, wanted): (Arc<AtomicU64>, Wanted) = Default::default();
        let task = tokio::spawn(read_on(socket, Arc::clone(&bytes), Arc::clone(&wanted)));
        Ok(Self { name, bytes, wanted, task })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The instant at which this text comes, from now on.
    pub(super) fn until_shown(
        &self,
        text: &str,
    ) -> impl Future<Output = Fallible<Instant>> + use<> {
        let (teller, told) = oneshot::channel();
        if let Ok(mut wanted) = self.wanted.lock() {
            *wanted = Some((text.to_owned(), teller));
        }
        async move { Ok(timeout(BOUND, told).await??) }
    }
}

/// A stream that is asked for and never read. Its window is soon full.
pub(super) async fn unread(address: &str, name: &str) -> Fallible<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut socket = socket.connect(address.parse()?).await?;
    socket.write_all(request(&path(name), "keep-alive").as_bytes()).await?;
    Ok(socket)
}

/// A request, and the beginning of its answer.
pub(super) async fn begin(address: &str, path: &str) -> Fallible<(TcpStream, String)> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(request(path, "keep-alive").as_bytes()).await?;
    let mut buffer = vec![0; 4096];
    let read = socket.read(&mut buffer).await?;
    Ok((socket, String::from_utf8_lossy(&buffer[..read]).trim_end().to_owned()))
}

fn path(name: &str) -> String {
    format!("/live?of=name&n={}", name.replace('/', "%2F"))
}

async fn read_on(mut socket: TcpStream, bytes: Arc<AtomicU64>, wanted: Wanted) {
    let (mut buffer, mut rest) = (vec![0; 1 << 16], Vec::new());
    while let Ok(read @ 1..) = socket.read(&mut buffer).await {
        bytes.fetch_add(read as u64, Ordering::Relaxed);
        rest.extend_from_slice(&buffer[..read]);
        let Ok(mut wanted) = wanted.lock() else { return };
        let found = wanted.as_ref().is_some_and(|(text, _)| holds(&rest, text.as_bytes()));
        if let Some((_, teller)) = wanted.take_if(|_| found) {
            let _ = teller.send(Instant::now());
        }
        // A text may have come in two pieces.
        rest.drain(..rest.len().saturating_sub(64));
    }
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// The whole answer to a request.
pub(super) async fn get(address: &str, path: &str) -> Fallible<String> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(request(path, "close").as_bytes()).await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    let answer = String::from_utf8(answer)?;
    if answer.starts_with("HTTP/1.1 200") { Ok(answer) } else { Err(answer.into()) }
}

fn request(path: &str, connection: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\n\r\n")
}
