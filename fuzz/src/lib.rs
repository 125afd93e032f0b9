//! All readers of bytes from outside, as functions over bytes. `cargo fuzz`
//! (docs/internals/tests/fuzzing.md) and `tests/seeds` call them. Each panics if its input makes
//! it break a promise.

mod embedded;
mod redis;
mod text;
mod zookeeper;

use std::fmt::Display;

/// The name of a target, and the function that reads the bytes.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every target. Each has a folder in `seeds/`, a program in `fuzz_targets/`, and a line in
/// `Cargo.toml`.
pub const TARGETS: &[FuzzTarget] = &[
    ("url", text::url),
    ("duration", text::duration),
    ("name", text::name),
    ("slots", text::slots),
    ("about", text::about),
    ("ticket", text::ticket),
    ("embedded_datagram", embedded::datagram),
    ("embedded_file", embedded::damaged_file),
    ("embedded_rows", embedded::damaged_rows),
    ("embedded_queue_rows", embedded::damaged_queue_rows),
    ("redis_reply", redis::answer),
    ("redis_wakeup", redis::wakeup),
    ("redis_error", redis::refusal),
    ("cluster_slots", redis::cluster_slots),
    ("sentinel", redis::sentinel),
    ("quorum_node", redis::quorum_node),
    ("guarded_write", redis::guarded_write),
    ("zookeeper_node", zookeeper::node),
    ("zookeeper_name", zookeeper::name),
];

/// Runs the target of this name. Each program in `fuzz_targets/` is one line that calls this.
///
/// # Panics
/// If there is no such target, or if the target finds a mistake.
pub fn run(target: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.expect("the target is in the list").1(bytes);
}

/// Checks that a text for people is one line.
fn must_be_one_line(message: impl Display) {
    let text = message.to_string();
    assert!(!text.contains(['\n', '\r', '\u{1b}', '\0']), "more than one line: {text:?}");
}
