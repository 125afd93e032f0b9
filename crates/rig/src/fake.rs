//! A server that plays a Redis, and misbehaves on demand as no real server would.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

/// The server's reaction to a command.
pub enum FakeAnswer {
    /// Answer as a Redis without keys would.
    AsUsual,
    /// Send these bytes unchanged.
    Say(Vec<u8>),
    /// Close the connection.
    Close,
    /// Send these bytes again and again, until the client no longer listens.
    Flood(Vec<u8>),
}

/// A server on a port of its own. It runs as long as the program.
#[derive(Clone, Debug)]
pub struct FakeServer {
    port: u16,
    connections: Arc<AtomicU64>,
}

impl FakeServer {
    /// Starts a server that asks `act` about each command. `act` gets the command's words, the
    /// first in capitals.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn start(act: impl Fn(&[String]) -> FakeAnswer + Send + Sync + 'static) -> Self {
        Self::greet(None, act)
    }

    /// Starts a server that sends these bytes to each client that connects, and closes the
    /// connection.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn refusing(said: &str) -> Self {
        Self::greet(Some(format!("{said}\r\n")), |_| FakeAnswer::Close)
    }

    /// The server's URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// How many connections the server has taken so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    fn greet(
        greeting: Option<String>,
        act: impl Fn(&[String]) -> FakeAnswer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let fake = Self { port, connections: Arc::default() };
        let (connections, act) = (fake.connections.clone(), Arc::new(act));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                if let Some(greeting) = &greeting {
                    let _ = stream.write_all(greeting.as_bytes());
                    continue;
                }
                let act = act.clone();
                thread::spawn(move || serve(stream, &*act));
            }
        });
        fake
    }
}

fn serve(mut stream: TcpStream, act: &dyn Fn(&[String]) -> FakeAnswer) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reading);
    while let Some(words) = read_command(&mut reader) {
        let answered = match act(&words) {
            FakeAnswer::AsUsual => stream.write_all(as_usual(&words).as_bytes()).is_ok(),
            FakeAnswer::Say(bytes) => stream.write_all(&bytes).is_ok(),
            FakeAnswer::Close => false,
            FakeAnswer::Flood(bytes) => {
                while stream.write_all(&bytes).is_ok() {}
                false
            }
        };
        if !answered {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

fn read_command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let count = read_number(reader, '*')?;
    let words = (0..count).map(|_| {
        let mut bytes = vec![0; read_number(reader, '$')? + 2];
        reader.read_exact(&mut bytes).ok()?;
        bytes.truncate(bytes.len() - 2);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    let mut words: Vec<String> = words.collect::<Option<_>>()?;
    words.first_mut()?.make_ascii_uppercase();
    Some(words)
}

fn read_number(reader: &mut impl BufRead, kind: char) -> Option<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.trim_end().strip_prefix(kind)?.parse().ok()
}

/// Answers as a Redis without keys would. Every script returns an empty list.
fn as_usual(words: &[String]) -> String {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "HELLO" => {
            let fields =
                ["server", "redis", "version", "7.2.4", "mode", "standalone", "role", "master"];
            format!("%4\r\n{}", fields.map(bulk).concat())
        }
        "TIME" => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            format!("*2\r\n{}{}", bulk(&now.as_secs().to_string()), bulk("0"))
        }
        "INFO" => bulk("redis_version:7.2.4\r\nredis_mode:standalone\r\nrole:master\r\n"),
        "SCRIPT" => bulk("0000000000000000000000000000000000000000"),
        "SUBSCRIBE" => format!(">3\r\n{}{}:1\r\n", bulk("subscribe"), bulk(word(1))),
        "EVALSHA" | "CONFIG" | "SCAN" => "*0\r\n".to_owned(),
        _ => "+OK\r\n".to_owned(),
    }
}
