//! The name of a script's text on the server.

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// The SHA-1 of a text in hexadecimal digits, by which `EVALSHA` knows it. The server names scripts
/// by this hash, and no secret depends on it.
pub(crate) fn hash_of(text: &str) -> String {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_hash_that_a_server_gives_it() {
        // The server's answer to `SCRIPT LOAD "return 1"`.
        assert_eq!(hash_of("return 1"), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    }
}
