//! The paths of znodes under the root of a store.
//!
//! ```text
//!   /root/names/<name>              the writes since the base
//!   /root/names/<name>/<hex>        the base; <hex> is drawn anew whenever the name comes into being
//!   /root/inboxes/<inbox>           ephemeral: this client lives; written to when it is to look
//!   /root/floor                     the highest fence of any name that was forgotten
//!   /root/clock                     written to learn the leader's time
//! ```

use seinpaal_proto::{Inbox, Name};

#[derive(Clone, Debug)]
pub struct Paths {
    root: String,
}

impl Paths {
    /// Makes the paths of a root. `root` is absolute and does not end in a slash; it is empty for
    /// the root of the server.
    pub fn new(root: &str) -> Self {
        Self { root: root.to_owned() }
    }

    /// Returns the znodes that must be there before any other, parents first.
    pub(super) fn folders(&self) -> Vec<String> {
        // The first slash is the root of the server, which is always there.
        let ends = self.root.match_indices('/').map(|(at, _)| at).skip(1);
        let parents = ends.map(|end| self.root[..end].to_owned());
        let root = Some(self.root.clone()).filter(|root| !root.is_empty());
        parents
            .chain(root)
            .chain([self.names(), self.inboxes(), self.floor(), self.clock()])
            .collect()
    }

    pub(super) fn names(&self) -> String {
        format!("{}/names", self.root)
    }

    pub(super) fn floor(&self) -> String {
        format!("{}/floor", self.root)
    }

    pub(super) fn clock(&self) -> String {
        format!("{}/clock", self.root)
    }

    pub(super) fn inboxes(&self) -> String {
        format!("{}/inboxes", self.root)
    }

    pub(super) fn inbox(&self, inbox: Inbox) -> String {
        format!("{}/inboxes/{inbox}", self.root)
    }

    pub fn name(&self, name: &Name) -> String {
        format!("{}/names/{}", self.root, encode(name.as_str()))
    }

    pub(super) fn base(&self, name: &Name, incarnation: u64) -> String {
        format!("{}/{incarnation:016x}", self.name(name))
    }
}

/// Encodes a name for a znode, whose name cannot have every character. A byte that is not plain
/// becomes %41 and the like.
fn encode(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Returns the name that is kept in a znode with this name. `None` if the znode is not one of ours.
pub fn decode(child: &str) -> Option<Name> {
    let name = Name::new(&seinpaal_store::url::decoded(child)?).ok()?;
    (encode(name.as_str()) == child).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back_from_its_znode() {
        for text in ["gpus", "a/b", ".", "..", "%41", "ünïcode", "a b{c}\u{fff0}"] {
            let name = Name::new(text).unwrap();
            let child = encode(text);
            assert!(!child.contains(['/', '.']), "{child}");
            assert_eq!(decode(&child), Some(name));
        }
    }

    #[test]
    fn what_somebody_else_put_there_is_no_name() {
        assert_eq!(decode("a.b"), None);
        assert_eq!(decode("%4"), None);
    }

    #[test]
    fn parents_come_first() {
        let folders = Paths::new("/a/b").folders();
        assert_eq!(&folders[..3], ["/a", "/a/b", "/a/b/names"]);
        assert_eq!(Paths::new("").folders()[0], "/names");
    }
}
