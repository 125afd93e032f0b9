//! The keys that a terminal sends.

use std::{
    io::{self, IsTerminal, Read},
    thread,
};

use tokio::sync::mpsc;

/// A key. Its meaning depends on the view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Key {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    Escape,
    Tab,
    Backspace,
    Char(char),
}

/// The pressed keys, in order.
pub(super) struct KeyPresses(mpsc::UnboundedReceiver<Key>);

impl KeyPresses {
    /// Waits for the next key. Never returns if stdin has ended. Cancel safe.
    pub(super) async fn next(&mut self) -> Key {
        match self.0.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

/// Reads keys in a separate thread, which ends with the program. Reading a terminal cannot be
/// cancelled, and `O_NONBLOCK` is no way out, because it belongs to the open file, which our caller
/// shares.
pub(super) fn listen() -> KeyPresses {
    let (sender, keys) = mpsc::unbounded_channel();
    if io::stdin().is_terminal() {
        let reader = thread::Builder::new().name("seinpaal-keys".into());
        // Without the thread there are no keys, but signals still end the program.
        drop(reader.spawn(move || read_on(&sender)));
    }
    KeyPresses(keys)
}

fn read_on(sender: &mpsc::UnboundedSender<Key>) {
    let mut buffer = [0; 64];
    while let Ok(read @ 1..) = io::stdin().lock().read(&mut buffer) {
        for key in keys_in(&buffer[..read]) {
            if sender.send(key).is_err() {
                return;
            }
        }
    }
}

/// Splits bytes into keys. A terminal sends the bytes of one key in one piece, so a lone escape is
/// the escape key.
fn keys_in(bytes: &[u8]) -> Vec<Key> {
    let (mut keys, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (key, length) = first_key(rest);
        keys.extend(key);
        rest = &rest[length..];
    }
    keys
}

const SEQUENCES: [(&[u8], Key); 16] = [
    (b"\x1b[A", Key::Up),
    (b"\x1bOA", Key::Up),
    (b"\x1b[B", Key::Down),
    (b"\x1bOB", Key::Down),
    (b"\x1b[C", Key::Right),
    (b"\x1bOC", Key::Right),
    (b"\x1b[D", Key::Left),
    (b"\x1bOD", Key::Left),
    (b"\x1b[5~", Key::PageUp),
    (b"\x1b[6~", Key::PageDown),
    (b"\x1b[H", Key::First),
    (b"\x1bOH", Key::First),
    (b"\x1b[1~", Key::First),
    (b"\x1b[F", Key::Last),
    (b"\x1bOF", Key::Last),
    (b"\x1b[4~", Key::Last),
];

fn first_key(bytes: &[u8]) -> (Option<Key>, usize) {
    if let Some((sequence, key)) = SEQUENCES.iter().find(|(text, _)| bytes.starts_with(text)) {
        return (Some(*key), sequence.len());
    }
    let key = match bytes[0] {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x1b if bytes.len() == 1 => Key::Escape,
        // The sequence of a key that has no meaning here is skipped.
        0x1b => return (None, sequence_length(bytes)),
        _ => return first_character(bytes),
    };
    (Some(key), 1)
}

/// Reads a character of UTF-8. Invalid bytes and control characters are left out.
fn first_character(bytes: &[u8]) -> (Option<Key>, usize) {
    let length = (1..=bytes.len().min(4)).find(|length| str::from_utf8(&bytes[..*length]).is_ok());
    let text = length.and_then(|length| str::from_utf8(&bytes[..length]).ok());
    let character = text.and_then(|text| text.chars().next()).filter(|c| !c.is_control());
    (character.map(Key::Char), length.unwrap_or(1))
}

/// Returns the length of a sequence: `ESC [ parameters letter`, or escape and one more byte.
fn sequence_length(bytes: &[u8]) -> usize {
    if !bytes.starts_with(b"\x1b[") {
        return 2;
    }
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte));
    end.map_or(bytes.len(), |at| at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_one_after_the_other() {
        let read = keys_in("j\x1b[A\x1b[5~\rü\t\x7f".as_bytes());
        let wanted = [
            Key::Char('j'),
            Key::Up,
            Key::PageUp,
            Key::Enter,
            Key::Char('ü'),
            Key::Tab,
            Key::Backspace,
        ];
        assert_eq!(read, wanted);
    }

    #[test]
    fn a_lone_escape_is_a_key_and_other_bytes_do_nothing() {
        assert_eq!(keys_in(b"\x1b"), [Key::Escape]);
        assert_eq!(keys_in(b"\x1b[1;5Cq"), [Key::Char('q')]);
        assert_eq!(keys_in(b"\x1bxq"), [Key::Char('q')]);
        assert_eq!(keys_in(b"\x1b[1;5"), []);
        assert_eq!(keys_in(b"\xff\x01\xc2\x9bq"), [Key::Char('q')]);
    }
}
