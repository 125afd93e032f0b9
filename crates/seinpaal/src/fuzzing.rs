//! All readers of bytes from outside, as functions over bytes. The fuzzer
//! (docs/internals/proof/fuzzing.md) and the tests beside this file call them. Each panics if its
//! input makes it break a promise.

mod embedded;
#[cfg(test)]
mod mutate;
#[cfg(test)]
mod tests;
mod text;

use seinpaal_store::fuzzing::must_be_one_line;

/// The name of a target, and the function that reads the bytes.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every reader.
pub const TARGETS: &[FuzzTarget] = &[
    ("url", text::url),
    ("duration", text::duration),
    ("name", text::name),
    ("slots", text::slots),
    ("about", text::about),
    ("ticket", text::ticket),
    #[cfg(feature = "embedded")]
    ("embedded_datagram", crate::store::embedded::fuzzing::datagram),
    #[cfg(feature = "embedded")]
    ("embedded_file", embedded::damaged_file),
    #[cfg(feature = "embedded")]
    ("embedded_rows", embedded::damaged_rows),
    #[cfg(feature = "embedded")]
    ("embedded_queue_rows", embedded::damaged_queue_rows),
    #[cfg(feature = "zookeeper")]
    ("zookeeper_node", crate::store::zookeeper::fuzzing::node),
    #[cfg(feature = "zookeeper")]
    ("zookeeper_name", crate::store::zookeeper::fuzzing::name),
];

/// Runs the target of this name. Each program of the fuzzer is one line that calls this.
///
/// # Panics
/// If there is no such target, or if the target finds a mistake.
pub fn run(target: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.expect("the target is in the list").1(bytes);
}
