//! The lines of an input that may never end. They are read ahead a little, and handed over as they
//! come.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read},
    thread,
};

use seinpaal::MAX_PAYLOAD_BYTES;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// The most items that one request to the store carries.
const MOST_LINES: usize = 63;
/// How many lines are read ahead. Each line may have a MiB.
const AHEAD: usize = MOST_LINES;

/// The error of a payload that is too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TooLong;

/// The reason why there is no further line.
#[derive(Debug)]
pub(super) enum BadInput {
    TooLong(TooLong),
    Unreadable(io::Error),
}

/// The lines that the reading thread sends.
#[derive(Debug)]
pub(super) struct InputLines(Receiver<Result<Vec<u8>, BadInput>>);

/// Some lines, without their newlines.
#[derive(Debug)]
pub(super) struct LineBatch {
    pub(super) lines: Vec<Vec<u8>>,
    /// The reason, if no line follows. `Ok`: the input has ended.
    pub(super) end: Option<Result<(), BadInput>>,
}

impl InputLines {
    /// Starts a thread that reads. It ends with the input or with the program.
    pub(super) fn read(input: impl Read + Send + 'static) -> Self {
        let (to, from) = mpsc::channel(AHEAD);
        thread::spawn(move || send_lines(BufReader::new(input), &to));
        Self(from)
    }

    /// Waits for a line, and also takes the lines that are already there.
    pub(super) async fn next(&mut self) -> LineBatch {
        let mut arrived = Vec::new();
        self.0.recv_many(&mut arrived, MOST_LINES).await;
        let mut batch = LineBatch { lines: Vec::new(), end: None };
        if arrived.is_empty() {
            batch.end = Some(Ok(()));
        }
        for line in arrived {
            match line {
                Ok(line) => batch.lines.push(line),
                Err(bad) => batch.end = Some(Err(bad)),
            }
        }
        batch
    }
}

fn send_lines(mut input: impl BufRead, to: &Sender<Result<Vec<u8>, BadInput>>) {
    while let Some(line) = next_line(&mut input).transpose() {
        let is_last = line.is_err();
        if to.blocking_send(line).is_err() || is_last {
            return;
        }
    }
}

fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, BadInput> {
    let mut line = Vec::new();
    // The length of the longest line with its newline.
    let most = MAX_PAYLOAD_BYTES as u64 + 1;
    input.take(most).read_until(b'\n', &mut line).map_err(BadInput::Unreadable)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() == MAX_PAYLOAD_BYTES => Err(BadInput::TooLong(TooLong)),
        Some(last) => {
            line.push(last);
            Ok(Some(line))
        }
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a payload has at most {MAX_PAYLOAD_BYTES} bytes: store it elsewhere and push a reference to it"
        )
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(error) => error.fmt(f),
            Self::Unreadable(error) => write!(f, "cannot read stdin: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| next_line(&mut input).unwrap()).collect()
    }

    #[test]
    fn a_line_is_what_stands_before_its_end_and_the_last_one_needs_none() {
        assert_eq!(all(b""), Vec::<Vec<u8>>::new());
        assert_eq!(all(b"a\n\nb\r\n\0c"), [&b"a"[..], b"", b"b\r", b"\0c"]);
    }

    #[test]
    fn the_longest_line_fits_and_one_byte_more_does_not() {
        let mut input = vec![b'a'; MAX_PAYLOAD_BYTES];
        assert_eq!(all(&input)[0].len(), MAX_PAYLOAD_BYTES);
        input.push(b'\n');
        assert_eq!(all(&input)[0].len(), MAX_PAYLOAD_BYTES);
        input[MAX_PAYLOAD_BYTES] = b'a';
        assert!(matches!(next_line(&mut &input[..]), Err(BadInput::TooLong(_))));
    }
}
