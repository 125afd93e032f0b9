//! Follows a stream of bytes through the protocol, to know how large an answer is before it is in
//! memory.
//!
//! The client library's parser keeps an answer until it is whole, and believes the length in its
//! header. So the lengths are checked here first.

/// How deep lists may be nested. Our answers have four levels.
const DEEPEST: usize = 16;
/// How many bytes of a header or a line are kept. A length has at most 20 digits, and an error text
/// is cut where it is shown.
const KEPT: usize = 256;
/// A list may have one element for so many bytes of room, because an element takes more memory than
/// its bytes.
const BYTES_AN_ELEMENT: usize = 16;

/// A reader that keeps only its position.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Elements still to come of each list that is open.
    open: Vec<usize>,
    at: FramePosition,
    line: Vec<u8>,
    /// The bytes and elements so far of the answer that comes in.
    bytes: usize,
    elements: usize,
    /// Answers and pushes that came in whole.
    whole: u64,
}

#[derive(Debug, Default)]
enum FramePosition {
    #[default]
    Type,
    Line(u8),
    Bulk(usize),
}

/// The reason why reading stops.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Stop {
    /// The answer is larger than its room.
    TooLarge,
    /// The first byte of an answer is no type of the protocol.
    Foreign(u8),
}

/// The answers that came in whole and have to be reported.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct SeenFrames {
    /// A refusal that is the first of all answers.
    pub(super) refusal: Option<String>,
}

impl Frames {
    /// Reads on with these bytes. One answer may have `room` bytes.
    pub(super) fn advance(&mut self, mut bytes: &[u8], room: usize) -> Result<SeenFrames, Stop> {
        let mut seen = SeenFrames::default();
        while let Some(&next) = bytes.first() {
            let taken = match self.at {
                FramePosition::Type => self.begin(next)?,
                FramePosition::Line(kind) => self.read_line(kind, bytes, room, &mut seen)?,
                FramePosition::Bulk(left) => self.skip_bulk(left, bytes.len()),
            };
            self.bytes += taken;
            bytes = &bytes[taken..];
            if self.bytes > room {
                return Err(Stop::TooLarge);
            }
            if self.open.is_empty() && matches!(self.at, FramePosition::Type) {
                // The room counts for each answer by itself, and the next one begins here.
                (self.bytes, self.elements) = (0, 0);
                self.whole += 1;
            }
        }
        Ok(seen)
    }

    /// Returns whether an answer or a push came in whole.
    pub(super) fn has_answered(&self) -> bool {
        self.whole > 0
    }

    fn begin(&mut self, kind: u8) -> Result<usize, Stop> {
        // The bytes that stand for types in RESP2 and RESP3.
        if !b"+-:_,#($!=*~>%|".contains(&kind) {
            return Err(Stop::Foreign(kind));
        }
        self.line.clear();
        self.at = FramePosition::Line(kind);
        Ok(1)
    }

    fn read_line(
        &mut self,
        kind: u8,
        bytes: &[u8],
        room: usize,
        seen: &mut SeenFrames,
    ) -> Result<usize, Stop> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |at| at + 1);
        let kept = KEPT.saturating_sub(self.line.len()).min(taken);
        self.line.extend_from_slice(&bytes[..kept]);
        if end.is_some() {
            self.end_line(kind, room, seen)?;
        }
        Ok(taken)
    }

    fn end_line(&mut self, kind: u8, room: usize, seen: &mut SeenFrames) -> Result<(), Stop> {
        let number = self.number();
        match kind {
            b'$' | b'!' | b'=' => {
                // A length below zero stands for nothing, and no bytes follow it.
                let Some(length) = number else {
                    self.end_element();
                    return Ok(());
                };
                // CR and LF stand behind the bytes.
                let with_end = length.checked_add(2).ok_or(Stop::TooLarge)?;
                if self.bytes.saturating_add(with_end) > room {
                    return Err(Stop::TooLarge);
                }
                self.at = FramePosition::Bulk(with_end);
            }
            b'*' | b'~' | b'>' => self.open_list(number.unwrap_or(0), room)?,
            // A map has a key and a value for each entry. Attributes are also a map, followed by
            // the element that they describe.
            b'%' => self.open_list(number.unwrap_or(0).saturating_mul(2), room)?,
            b'|' => {
                self.open_list(number.unwrap_or(0).saturating_mul(2).saturating_add(1), room)?;
            }
            // A server that admits no client, as in protected mode, says so before any request.
            b'-' if self.open.is_empty() && self.whole == 0 => {
                seen.refusal = Some(self.text());
                self.end_element();
            }
            _ => self.end_element(),
        }
        Ok(())
    }

    fn skip_bulk(&mut self, left: usize, there: usize) -> usize {
        let taken = left.min(there);
        self.at = FramePosition::Bulk(left - taken);
        if taken == left {
            self.end_element();
        }
        taken
    }

    fn open_list(&mut self, elements: usize, room: usize) -> Result<(), Stop> {
        self.elements = self.elements.saturating_add(elements);
        let is_too_much = self.elements > room / BYTES_AN_ELEMENT || self.open.len() >= DEEPEST;
        if is_too_much {
            return Err(Stop::TooLarge);
        }
        if elements == 0 {
            self.end_element();
        } else {
            self.open.push(elements);
            self.at = FramePosition::Type;
        }
        Ok(())
    }

    /// Ends an element. The innermost list then waits for one element less. If it is whole, it is
    /// itself an element that has ended, and so on.
    fn end_element(&mut self) {
        self.at = FramePosition::Type;
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.open.pop();
        }
    }

    /// The number in a header. `None` if it is below zero, which stands for nothing. A text that is
    /// not a number counts as too large for any room. Bytes that are no text also give `None`, and
    /// the parser refuses them.
    fn number(&self) -> Option<usize> {
        let digits = self.line.trim_ascii();
        if digits.first() == Some(&b'-') {
            return None;
        }
        let text = std::str::from_utf8(digits).ok()?;
        Some(text.trim_start_matches('+').parse().unwrap_or(usize::MAX))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(self.line.trim_ascii()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 4096;

    /// Reads a text in pieces of several sizes, which must make no difference.
    fn read(text: &[u8]) -> Result<(u64, Option<String>), Stop> {
        let mut outcomes = Vec::new();
        for piece in [1, 2, 3, 7, text.len().max(1)] {
            let (mut frames, mut refusal) = (Frames::default(), None);
            let mut read_all = || -> Result<u64, Stop> {
                for part in text.chunks(piece) {
                    refusal = refusal.take().or(frames.advance(part, ROOM)?.refusal);
                }
                Ok(frames.whole)
            };
            let whole = read_all();
            outcomes.push(whole.map(|whole| (whole, refusal)));
        }
        assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "{outcomes:?}");
        outcomes.remove(0)
    }

    #[test]
    fn answers_of_all_kinds_end_where_they_end() {
        for (text, whole) in [
            ("+OK\r\n:1\r\n_\r\n#t\r\n,1.5\r\n(123\r\n", 6),
            ("$5\r\nhe\r\nl\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n", 5),
            ("*3\r\n:1\r\n*2\r\n$1\r\na\r\n:2\r\n:3\r\n+x\r\n", 2),
            ("%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", 1),
            ("|1\r\n+ttl\r\n:9\r\n$2\r\nab\r\n", 1),
            (">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\np\r\n!3\r\nERR\r\n=5\r\ntxt:a\r\n", 3),
            ("*1\r\n*1\r\n*1\r\n*0\r\n~1\r\n+a\r\n", 2),
        ] {
            assert_eq!(read(text.as_bytes()), Ok((whole, None)), "{text}");
        }
    }

    #[test]
    fn a_length_is_refused_before_what_it_announces_comes() {
        for header in [
            "$4097\r\n",
            "$2147483647\r\n",
            "$18446744073709551615\r\n",
            "$99999999999999999999999\r\n",
            "*1000\r\n",
            "%200\r\n",
            "|9223372036854775807\r\n",
            ">400\r\n",
            "*2\r\n:1\r\n$5000\r\n",
        ] {
            assert_eq!(read(header.as_bytes()), Err(Stop::TooLarge), "{header}");
        }
    }

    #[test]
    fn a_line_without_an_end_and_lists_in_lists_are_cut_off() {
        let endless = [b"+".as_slice(), &[b'a'; ROOM + 1]].concat();
        assert_eq!(read(&endless), Err(Stop::TooLarge));
        assert_eq!(read(&b"*1\r\n".repeat(DEEPEST + 1)), Err(Stop::TooLarge));
        assert_eq!(
            read(&[b"*200\r\n".as_slice(), &b"*200\r\n".repeat(8)].concat()),
            Err(Stop::TooLarge)
        );
    }

    #[test]
    fn many_small_answers_are_no_large_one() {
        assert_eq!(read(&b"$3\r\nabc\r\n".repeat(2000)), Ok((2000, None)));
    }

    #[test]
    fn only_a_refusal_that_comes_first_was_not_asked_for() {
        let said = "-DENIED protected mode\r\n";
        assert_eq!(read(said.as_bytes()), Ok((1, Some("DENIED protected mode".to_owned()))));
        assert_eq!(read(format!("+OK\r\n{said}").as_bytes()), Ok((2, None)));
    }

    #[test]
    fn what_is_not_the_protocol_is_told_by_its_first_byte() {
        assert_eq!(read(b"HTTP/1.1 400"), Err(Stop::Foreign(b'H')));
        assert_eq!(read(&[0x15, 3, 3, 0, 2]), Err(Stop::Foreign(0x15)));
    }
}
