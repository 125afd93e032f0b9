//! Commands to a Redis, without a client library.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// Sends a command to the server at this port of this machine. Returns the answer: the parts of a
/// list one by one, lists in lists flattened, and a missing value as an empty text.
///
/// # Errors
/// If the server is not there, is silent for so long, or refuses.
pub fn say(port: u16, words: &[&str], longest_wait: Duration) -> io::Result<Vec<String>> {
    let stream =
        TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), longest_wait)?;
    stream.set_read_timeout(Some(longest_wait))?;
    say_on(stream, words)
}

/// As [`say`], on an open connection.
pub(crate) fn say_on(mut stream: impl Read + Write, words: &[&str]) -> io::Result<Vec<String>> {
    let bulk = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    let words: Vec<_> = words.iter().map(bulk).collect();
    stream.write_all(format!("*{}\r\n{}", words.len(), words.concat()).as_bytes())?;
    let mut parts = Vec::new();
    read(&mut BufReader::new(stream), &mut parts)?;
    Ok(parts)
}

fn read(from: &mut impl BufRead, into: &mut Vec<String>) -> io::Result<()> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let line = line.trim_end();
    let (kind, rest) = line.split_at_checked(1).ok_or(io::ErrorKind::UnexpectedEof)?;
    let count = || rest.parse::<usize>().unwrap_or(0); // -1 is nothing
    match kind {
        "$" if rest == "-1" => into.push(String::new()),
        "$" => into.push(read_text(from, count())?),
        "*" => (0..count()).try_for_each(|_| read(from, into))?,
        "-" => return Err(io::Error::other(line.to_owned())),
        _ => into.push(rest.to_owned()),
    }
    Ok(())
}

fn read_text(from: &mut impl BufRead, length: usize) -> io::Result<String> {
    let mut bytes = vec![0; length + 2];
    from.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
