//! An HTTP service that refuses a late holder. Each request carries its fence in a header, and the
//! service answers 409 to a fence that is lower than the highest one seen. The example uses no
//! framework, so that all of it can be seen.
//!
//! Ends with status 0 only if the late holder was refused.
//! `cargo run -p seinpaal --example fencing_http`

use std::{
    error::Error,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use seinpaal::{
    Fence,
    blocking::{Seinpaal, wait},
};

/// The state of the service. A real service keeps both values in one place that survives its
/// restart, and changes them in one step: a forgotten fence protects nothing.
#[derive(Default)]
struct Document {
    fence: u64,
    text: String,
}

impl Document {
    /// Takes a new text from a holder, unless a later holder has written. Returns the status.
    fn put(&mut self, fence: Option<u64>, text: String) -> &'static str {
        match fence {
            None => "428 Precondition Required",
            Some(fence) if fence < self.fence => "409 Conflict",
            Some(fence) => {
                (self.fence, self.text) = (fence, text);
                "200 OK"
            }
        }
    }
}

/// Serves one request after the other, so comparing and writing are one step.
fn serve(listener: &TcpListener) -> std::io::Result<()> {
    let mut document = Document::default();
    for stream in listener.incoming() {
        let mut stream = stream?;
        let (fence, body) = read_request(&stream)?;
        let status = if body.is_empty() { "200 OK" } else { document.put(fence, body) };
        let text = &document.text;
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
    }
    Ok(())
}

/// Reads a request: the fence, if there is one, and the body.
fn read_request(stream: &TcpStream) -> std::io::Result<(Option<u64>, String)> {
    let mut reader = BufReader::new(stream);
    let (mut fence, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((header, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue; // the request line
        };
        match header.to_ascii_lowercase().as_str() {
            "fence" => fence = value.parse().ok(),
            "content-length" => length = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    Ok((fence, body))
}

/// Sends a text as a holder, or no text to read. Returns the status and the present text.
fn ask(service: SocketAddr, fence: Fence, text: &str) -> std::io::Result<(String, String)> {
    let mut stream = TcpStream::connect(service)?;
    let length = text.len();
    write!(
        stream,
        "PUT /report HTTP/1.1\r\nFence: {fence}\r\nContent-Length: {length}\r\n\r\n{text}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default().trim_start_matches("HTTP/1.1 ");
    Ok((status.to_owned(), body.to_owned()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let service = listener.local_addr()?;
    thread::spawn(move || serve(&listener));
    let seinpaal = Seinpaal::connect("memory:")?;
    let reports = seinpaal.semaphore("reports").limit(1);

    let old = reports.acquire()?;
    assert!(old.is_held(), "the old holder looks at its permit, and is stopped before it writes");
    // Meanwhile its lease ends. Evicting it is quicker than waiting for that, and has the same
    // effect.
    wait(reports.asynchronous().evict(old.ticket()))?;

    let new = reports.acquire()?;
    let (accepted, _) = ask(service, new.fence(), "written by the new holder")?;
    println!("fence {}: {accepted}", new.fence());

    // The old holder goes on where it was stopped.
    let (refused, text) = ask(service, old.fence(), "written by the old holder")?;
    println!("fence {}: {refused}", old.fence());

    if accepted == "200 OK" && refused == "409 Conflict" && text == "written by the new holder" {
        println!("the report is {text:?}: the late holder changed nothing");
        return Ok(());
    }
    Err(format!("the report is {text:?}: the late holder was not refused").into())
}
