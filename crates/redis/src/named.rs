//! The names of slots in requests and answers. The scripts cut them at commas and join them again,
//! and answers are cut at spaces, semicolons and colons. So these separators, and all bytes beyond
//! ASCII, are written as `%` and two hexadecimal digits.

use seinpaal_proto::SlotNames;

/// Encodes the names, with commas between them.
pub(super) fn encoded(names: &SlotNames) -> String {
    let mut text = String::new();
    for byte in names.to_string().bytes() {
        match byte {
            b' ' | b'%' | b';' | b':' => text.push_str(&format!("%{byte:02x}")),
            0..=0x7f => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

/// Decodes the names. An empty text stands for no names.
pub(super) fn decoded(text: &str) -> Option<SlotNames> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || Some(char::from(rest.next()?).to_digit(16)? as u8);
        bytes.push(if byte == b'%' { digit()? << 4 | digit()? } else { byte });
    }
    String::from_utf8(bytes).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_way_as_words() {
        for text in ["", "GPU-0,GPU-1", "a board,50%,x;y,p:q,Brett \u{fc}\u{1f600}"] {
            let names: SlotNames = text.parse().unwrap();
            let word = encoded(&names);
            assert!(word.is_ascii() && !word.contains([' ', ';', ':']), "{word}");
            assert_eq!(decoded(&word), Some(names));
        }
        assert_eq!(decoded("a%2"), None);
        assert_eq!(decoded("a,a"), None);
    }
}
