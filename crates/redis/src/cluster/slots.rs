//! Which node owns which slot, as the cluster says and as redirections correct it.

use std::{collections::BTreeMap, fmt};

use redis::Value;

/// Where a node listens.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct NodeAddress {
    pub(super) host: String,
    pub(super) port: u16,
}

impl NodeAddress {
    /// Reads `HOST:PORT` as in a redirection, where no host means the host that says so.
    pub(super) fn parse(text: &str, of: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = if host.is_empty() { &of.host } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()? })
    }
}

impl fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The owners of all slots, and all nodes that there are.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotMap {
    /// The ranges of slots by their first slot: the last slot and the owner.
    ranges: BTreeMap<u16, (u16, NodeAddress)>,
    /// Slots of which a redirection said that they are elsewhere.
    moved: BTreeMap<u16, NodeAddress>,
    nodes: Vec<NodeAddress>,
    most_replicas: u32,
}

impl SlotMap {
    /// Reads the answer to `CLUSTER SLOTS`.
    pub(super) fn parse(answer: &Value, of: &NodeAddress) -> Option<Self> {
        let Value::Array(rows) = answer else { return None };
        let mut map = Self::default();
        for row in rows {
            let Value::Array(fields) = row else { return None };
            let [Value::Int(first), Value::Int(last), owners @ ..] = fields.as_slice() else {
                return None;
            };
            let nodes: Vec<_> = owners.iter().filter_map(|owner| node(owner, of)).collect();
            if let Some(master) = nodes.first() {
                let range = (u16::try_from(*last).ok()?, master.clone());
                map.ranges.insert(u16::try_from(*first).ok()?, range);
            }
            let replicas = u32::try_from(nodes.len().saturating_sub(1)).unwrap_or(u32::MAX);
            map.most_replicas = map.most_replicas.max(replicas);
            map.nodes.extend(nodes);
        }
        map.nodes.sort();
        map.nodes.dedup();
        Some(map)
    }

    pub(super) fn owner(&self, slot: u16) -> Option<&NodeAddress> {
        // A redirection is newer than the map. When the map is read anew, its corrections go with
        // it.
        self.moved.get(&slot).or_else(|| {
            let (_, (last, owner)) = self.ranges.range(..=slot).next_back()?;
            (slot <= *last).then_some(owner)
        })
    }

    /// Takes note of what a redirection said.
    pub(super) fn correct(&mut self, slot: u16, owner: NodeAddress) {
        self.moved.insert(slot, owner);
    }

    /// All masters that own slots, each once.
    pub(super) fn masters(&self) -> Vec<NodeAddress> {
        let owners = self.ranges.values().map(|(_, owner)| owner);
        let mut masters: Vec<_> = owners.chain(self.moved.values()).cloned().collect();
        masters.sort();
        masters.dedup();
        masters
    }

    /// All nodes, replicas among them.
    pub(super) fn nodes(&self) -> &[NodeAddress] {
        &self.nodes
    }

    /// How many replicas the master with the most of them has.
    pub(super) fn most_replicas(&self) -> u32 {
        self.most_replicas
    }

    pub(super) fn knows(&self, address: &NodeAddress) -> bool {
        self.nodes.contains(address) || self.moved.values().any(|owner| owner == address)
    }
}

/// Reads a node. One without a host is on the host that was asked. One with a question mark for a
/// host has no address that is known.
fn node(owner: &Value, of: &NodeAddress) -> Option<NodeAddress> {
    let Value::Array(fields) = owner else { return None };
    let [host, Value::Int(port), ..] = fields.as_slice() else { return None };
    let host = match host {
        Value::BulkString(host) if !host.is_empty() => std::str::from_utf8(host).ok()?,
        Value::BulkString(_) | Value::Nil => &of.host,
        _ => return None,
    };
    (host != "?").then_some(())?;
    Some(NodeAddress { host: host.to_owned(), port: u16::try_from(*port).ok()? })
}

/// Reads the answer to `CLUSTER SLOTS`, and asks everything of what was read.
#[cfg(any(test, feature = "fuzzing"))]
pub(in super::super) fn fuzz_slots(answer: &Value) {
    let of = NodeAddress { host: "h".into(), port: 1 };
    let Some(map) = SlotMap::parse(answer, &of) else { return };
    for slot in [0, 1, 16_383, u16::MAX] {
        let owner = map.owner(slot);
        assert!(owner.is_none_or(|owner| map.knows(owner)), "{slot}");
    }
    assert!(map.masters().iter().all(|master| map.nodes().contains(master)));
    assert!(map.nodes().len() <= map.masters().len() * (map.most_replicas() as usize + 1) * 16_384);
}

/// Reads a redirection, and writes it again.
#[cfg(any(test, feature = "fuzzing"))]
pub(in super::super) fn fuzz_redirection(text: &str) {
    let of = NodeAddress { host: "h".into(), port: 1 };
    if let Some(address) = NodeAddress::parse(text, &of) {
        assert_eq!(NodeAddress::parse(&address.to_string(), &of), Some(address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> NodeAddress {
        NodeAddress { host: "h".into(), port }
    }

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn row(first: i64, last: i64, nodes: &[(&str, i64)]) -> Value {
        let node = |(host, port): &(&str, i64)| {
            Value::Array(vec![bulk(host), Value::Int(*port), bulk("id"), Value::Array(vec![])])
        };
        let ends = [Value::Int(first), Value::Int(last)];
        Value::Array(ends.into_iter().chain(nodes.iter().map(node)).collect())
    }

    #[test]
    fn every_slot_has_the_owner_that_the_cluster_says_and_redirections_correct() {
        let rows = [row(0, 99, &[("", 1), ("h", 4)]), row(200, 16383, &[("h", 2), ("?", 5)])];
        let mut map = SlotMap::parse(&Value::Array(rows.to_vec()), &address(9)).unwrap();
        let owners = [0, 99, 100, 200, 16383].map(|slot| map.owner(slot).map(|owner| owner.port));
        assert_eq!(owners, [Some(1), Some(1), None, Some(2), Some(2)]);
        assert_eq!(map.nodes(), [1, 2, 4].map(address));
        assert_eq!(map.most_replicas(), 1);
        map.correct(100, address(3));
        assert_eq!(map.owner(100), Some(&address(3)));
        assert_eq!(map.masters(), [1, 2, 3].map(address));
        assert!(map.knows(&address(3)) && !map.knows(&address(9)));
    }

    #[test]
    fn a_redirection_without_a_host_is_to_the_same_host() {
        assert_eq!(NodeAddress::parse(":7", &address(1)), Some(address(7)));
        let six = NodeAddress { host: "::1".into(), port: 7 };
        assert_eq!(NodeAddress::parse("::1:7", &address(1)), Some(six));
        assert_eq!(NodeAddress::parse("x", &address(1)), None);
    }
}
