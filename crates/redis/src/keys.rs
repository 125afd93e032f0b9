//! The keys of a name on the server, two under one hash tag, and the channel of each inbox.

use std::sync::LazyLock;

use seinpaal_proto::{Inbox, Name};

use seinpaal_store::guarded::{encode, hash_tag};

/// Hash slots of a cluster.
const HASH_SLOTS: u16 = 16_384;

/// The prefix of keys and channels, unless the URL has another.
pub(super) const DEFAULT_PREFIX: &str = "seinpaal:";

/// Builds and reads keys and channels under one prefix, which has no braces in it.
// Used by fuzz/.
#[derive(Clone, Debug)]
pub struct Keys {
    prefix: String,
}

impl Keys {
    /// `None` if the prefix has a brace in it: it would move the hash tag.
    pub fn new(prefix: &str) -> Option<Self> {
        let is_plain = !prefix.contains(['{', '}']);
        is_plain.then(|| Self { prefix: prefix.to_owned() })
    }

    /// The prefix of every key.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// A key that no client writes, for asking which commands may be run on our keys.
    pub(super) fn probe(&self) -> String {
        format!("{}{{}}", self.prefix)
    }

    /// The hash and the ordered set of a name.
    pub fn of(&self, name: &Name) -> [String; 2] {
        let records = format!("{}{}", self.prefix, hash_tag(name));
        let order = format!("{records}:o");
        [records, order]
    }

    /// The hash and the ordered set of a queue.
    pub(super) fn of_queue(&self, name: &Name) -> [String; 2] {
        let records = format!("{}{}:q", self.prefix, hash_tag(name));
        let order = format!("{records}:o");
        [records, order]
    }

    /// The queue whose hash this is.
    pub(super) fn queue_of(&self, records: &str) -> Option<Name> {
        self.name_of(records.strip_suffix(":q")?)
    }

    /// The channel where an inbox listens for one queue in a cluster, in the hash slot of the
    /// queue. The scripts build the same channel.
    pub(super) fn channel_at_queue(&self, name: &Name, inbox: Inbox) -> String {
        let [records, _] = self.of_queue(name);
        format!("{records}:inbox:{inbox}")
    }

    /// The `SCAN` pattern for the hashes of queues whose names start with `start`.
    pub(super) fn queue_pattern(&self, start: &str) -> String {
        format!("{}:q", self.pattern(start))
    }

    /// The key of the restart guard's marker. In a cluster there is one in each hash slot (0 to
    /// 16383).
    pub(super) fn marker(&self, hash_slot: Option<u16>) -> String {
        match hash_slot {
            None => format!("{}guard", self.prefix),
            Some(hash_slot) => format!("{}guard:{{{}}}", self.prefix, tag_of_hash_slot(hash_slot)),
        }
    }

    /// The key that remembers the result of a guarded write.
    pub(super) fn write(&self, name: &Name, id: u128) -> String {
        let [records, _] = self.of(name);
        format!("{records}:w:{id:032x}")
    }

    /// Returns whether we keep data of our own under this key, or might. Guarded writes may not
    /// touch such a key. The marker of a quorum's node is not among these keys, because a quorum
    /// refuses guarded writes.
    pub(super) fn is_ours(&self, key: &[u8]) -> bool {
        let rest = key.strip_prefix(self.prefix.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"{") || rest.starts_with(b"guard"))
    }

    /// The name whose hash this is.
    pub fn name_of(&self, records: &str) -> Option<Name> {
        let tag = records.strip_prefix(&self.prefix)?.strip_prefix('{')?.strip_suffix('}')?;
        Name::new(&decode(tag)?).ok()
    }

    /// The channel where an inbox listens. The scripts build the same channel.
    pub(super) fn channel(&self, inbox: Inbox) -> String {
        format!("{}inbox:{inbox}", self.prefix)
    }

    /// The channel where an inbox listens for one name in a cluster, in the hash slot of the name.
    /// The scripts build the same channel.
    pub(super) fn channel_at(&self, name: &Name, inbox: Inbox) -> String {
        let [records, _] = self.of(name);
        format!("{records}:inbox:{inbox}")
    }

    /// The `SCAN` pattern for the hashes of names that start with `start`.
    pub(super) fn pattern(&self, start: &str) -> String {
        format!("{}{{{}*}}", escape_glob(&self.prefix), escape_glob(&encode(start)))
    }
}

/// Undoes [`encode`], and refuses any other text, so that two keys never have the same name.
fn decode(tag: &str) -> Option<String> {
    // A tag that `encode` never writes, like `%41`, is another program's key.
    let mut parts = tag.split('%');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (c, rest) = match part.get(..2)? {
            "25" => ('%', &part[2..]),
            "7B" => ('{', &part[2..]),
            "7D" => ('}', &part[2..]),
            _ => return None,
        };
        text.push(c);
        text.push_str(rest);
    }
    (!tag.contains(['{', '}'])).then_some(text)
}

/// The smallest number whose digits hash to a hash slot. Hashing cannot be undone, so the numbers
/// of all hash slots are found by trying, once, when the first is needed.
fn tag_of_hash_slot(hash_slot: u16) -> u32 {
    static TAGS: LazyLock<Vec<u32>> = LazyLock::new(|| {
        let mut tags = vec![None; usize::from(HASH_SLOTS)];
        let mut missing = tags.len();
        for tag in 0.. {
            let place = &mut tags[usize::from(hash_slot_of_tag(tag.to_string().as_bytes()))];
            missing -= usize::from(place.is_none());
            place.get_or_insert(tag);
            if missing == 0 {
                break;
            }
        }
        tags.into_iter().flatten().collect()
    });
    TAGS[usize::from(hash_slot % HASH_SLOTS)]
}

/// The hash slot of a key.
pub(super) fn hash_slot_of(key: &[u8]) -> u16 {
    hash_slot_of_tag(tag_of(key))
}

/// The part of a key that is hashed: the text between its first braces, if there is any.
pub(super) fn tag_of(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else { return key };
    let inside = &key[open + 1..];
    match inside.iter().position(|byte| *byte == b'}') {
        Some(end) if end > 0 => &inside[..end],
        _ => key,
    }
}

/// The hash slot of a hash tag: CRC-16/XMODEM, as the cluster specification says.
pub(super) fn hash_slot_of_tag(tag: &[u8]) -> u16 {
    let crc = tag.iter().fold(0u16, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
        })
    });
    crc % HASH_SLOTS
}

fn escape_glob(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back_from_its_key() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        for text in ["gpus", "a{b}c", "}{", "100%", "%7B", "zürich 東京", "a:o", "*[?]\\"] {
            let name = Name::new(text).unwrap();
            let [records, order] = keys.of(&name);
            assert_eq!(keys.name_of(&records), Some(name), "{records}");
            assert_eq!(keys.name_of(&order), None, "{order}");
        }
    }

    #[test]
    fn the_hash_tag_holds_the_whole_name() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        let [records, order] = keys.of(&Name::new("a{b}c").unwrap());
        assert_eq!(records, "seinpaal:{a%7Bb%7Dc}");
        assert_eq!(order, "seinpaal:{a%7Bb%7Dc}:o");
    }

    #[test]
    fn a_key_that_was_not_encoded_by_us_has_no_name() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        for key in ["seinpaal:{a%41}", "seinpaal:{a{b}", "other:{a}", "seinpaal:a", "seinpaal:{}"] {
            assert_eq!(keys.name_of(key), None, "{key}");
        }
    }

    #[test]
    fn each_hash_slot_has_a_marker_of_its_own_in_it() {
        assert_eq!(hash_slot_of_tag(b"123456789"), 0x31c3);
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        assert_eq!(keys.marker(None), "seinpaal:guard");
        for hash_slot in 0..HASH_SLOTS {
            let marker = keys.marker(Some(hash_slot));
            let tag = marker.strip_prefix("seinpaal:guard:{").unwrap().strip_suffix('}').unwrap();
            assert_eq!(hash_slot_of_tag(tag.as_bytes()), hash_slot, "{marker}");
            assert_eq!(keys.name_of(&marker), None);
        }
    }

    #[test]
    fn a_key_made_for_a_name_is_in_its_slot() {
        let keys = Keys::new("a:").unwrap();
        for text in ["gpus", "a{b}c", "}{", "100%", "zürich 東京"] {
            let name = Name::new(text).unwrap();
            let [records, order] = keys.of(&name);
            let hash_slot = hash_slot_of_tag(tag_of(records.as_bytes()));
            for key in [order, keys.write(&name, 7), format!("{}:total", hash_tag(text))] {
                assert_eq!(hash_slot_of_tag(tag_of(key.as_bytes())), hash_slot, "{key}");
            }
        }
        for (key, tag) in [("{}a", "{}a"), ("a{b", "a{b"), ("x{a}{b}", "a"), ("{{a}}", "{a")] {
            assert_eq!(tag_of(key.as_bytes()), tag.as_bytes());
        }
    }

    #[test]
    fn a_queue_and_a_semaphore_are_never_taken_for_each_other() {
        let keys = Keys::new("a:").unwrap();
        for text in ["gpus", "gpus}:q", "a{b}c", "q", ":q"] {
            let name = Name::new(text).unwrap();
            let ([semaphore, _], [queue, order]) = (keys.of(&name), keys.of_queue(&name));
            assert_eq!(keys.queue_of(&queue), Some(name.clone()));
            assert_eq!((keys.name_of(&queue), keys.queue_of(&semaphore)), (None, None));
            assert_eq!((keys.name_of(&order), keys.queue_of(&order)), (None, None));
            let hash_slot = hash_slot_of_tag(tag_of(semaphore.as_bytes()));
            let channel = keys.channel_at_queue(&name, Inbox(1));
            for key in [&queue, &order, &channel] {
                assert_eq!(hash_slot_of_tag(tag_of(key.as_bytes())), hash_slot, "{key}");
                assert!(keys.is_ours(key.as_bytes()), "{key}");
            }
        }
    }

    #[test]
    fn our_own_keys_are_known() {
        let keys = Keys::new(DEFAULT_PREFIX).unwrap();
        let name = Name::new("n").unwrap();
        let [records, order] = keys.of(&name);
        for key in [records, order, keys.write(&name, 1), keys.marker(None), keys.marker(Some(5))] {
            assert!(keys.is_ours(key.as_bytes()), "{key}");
        }
        assert!(!keys.is_ours(b"seinpaal:total") && !keys.is_ours(b"{n}:total"));
    }

    #[test]
    fn a_prefix_with_a_brace_is_refused() {
        assert!(Keys::new("a{b").is_none());
    }

    #[test]
    fn what_a_glob_would_read_is_escaped() {
        let keys = Keys::new("s*:").unwrap();
        assert_eq!(keys.pattern("a?[x]"), "s\\*:{a\\?\\[x\\]*}");
    }
}
