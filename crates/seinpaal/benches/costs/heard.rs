//! Reads commands that the tap heard: the requests among their arguments.
//!
//! A request that is likely to be plain is packed and begins with its number, and `PLAIN_*` in
//! `lean.lua` describe the rest. Other acquires are `acquire:` and packed. All other requests are
//! text.

/// One request, with the parts that matter here.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Heard {
    /// An acquire, and its ticket.
    Acquire(String),
    /// A release or a cancel.
    Leave,
    Renewal,
}

/// The places in a packed request of its ticket's series and number.
const SERIES: std::ops::Range<usize> = 49..73;
const NUMBER: std::ops::Range<usize> = 73..77;

/// The requests of a command, in their order.
pub(crate) fn requests(command: &str) -> Vec<Heard> {
    arguments(command).iter().filter_map(|argument| request(argument)).collect()
}

fn request(argument: &[u8]) -> Option<Heard> {
    match argument {
        [1, ..] => plain_ticket(argument).map(Heard::Acquire),
        [2, ..] => Some(Heard::Leave),
        // A renewal of a lease, or of one ticket by name.
        [3 | 4, ..] => Some(Heard::Renewal),
        text => {
            let begins = |word: &[u8]| text.starts_with(word);
            if begins(b"acquire:") {
                let ticket = text.get(8..40)?;
                return Some(Heard::Acquire(String::from_utf8_lossy(ticket).into_owned()));
            }
            let leaves = begins(b"release ") || begins(b"cancel ");
            let renewal = begins(b"renew ").then_some(Heard::Renewal);
            if leaves { Some(Heard::Leave) } else { renewal }
        }
    }
}

fn plain_ticket(argument: &[u8]) -> Option<String> {
    let series = String::from_utf8_lossy(argument.get(SERIES)?);
    let number = u32::from_le_bytes(argument.get(NUMBER)?.try_into().ok()?);
    Some(format!("{series}{number:08x}"))
}

/// The arguments in a line of `MONITOR`, which stand between quotation marks.
fn arguments(line: &str) -> Vec<Vec<u8>> {
    let (mut all, mut bytes) = (Vec::new(), line.bytes());
    while bytes.any(|byte| byte == b'"') {
        let mut argument = Vec::new();
        while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
            argument.push(if byte == b'\\' { escaped(&mut bytes) } else { byte });
        }
        all.push(argument);
    }
    all
}

fn escaped(bytes: &mut impl Iterator<Item = u8>) -> u8 {
    let digit = |bytes: &mut dyn Iterator<Item = u8>| {
        let digit = bytes.next().map(char::from).and_then(|digit| digit.to_digit(16));
        digit.expect("two digits after \\x") as u8
    };
    match bytes.next().expect("something after a backslash") {
        b'x' => digit(bytes) * 16 + digit(bytes),
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        itself => itself,
    }
}
