//! Which node owns which hash slot, as the cluster says and as redirections correct it.

use std::{collections::BTreeMap, fmt};

use redis::Value;

/// The host of a node that is to be shown by a name, and has none: the cluster's
/// `cluster-preferred-endpoint-type` is `hostname`, and the node has no
/// `cluster-announce-hostname`.
const UNKNOWN: &str = "?";

/// Where a node listens.
// Used by fuzz/.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeAddress {
    pub host: String,
    pub port: u16,
}

impl NodeAddress {
    /// Reads `HOST:PORT` as in a redirection. An empty host means the host that sent it, and a
    /// question mark means that the sender does not know the host.
    pub fn parse(text: &str, of: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':').filter(|(host, _)| *host != UNKNOWN)?;
        let host = if host.is_empty() { &of.host } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()? })
    }
}

impl fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The owners of all hash slots, and all nodes that there are.
// Used by fuzz/.
#[derive(Clone, Debug, Default)]
pub struct HashSlotMap {
    /// The ranges of hash slots by their first hash slot: the last hash slot and the owner.
    ranges: BTreeMap<u16, (u16, NodeAddress)>,
    /// Hash slots of which a redirection said that they are elsewhere.
    moved: BTreeMap<u16, NodeAddress>,
    nodes: Vec<NodeAddress>,
    most_replicas: u32,
}

impl HashSlotMap {
    /// Reads the answer to `CLUSTER SLOTS`.
    pub fn parse(answer: &Value, of: &NodeAddress) -> Option<Self> {
        let Value::Array(rows) = answer else { return None };
        let mut map = Self::default();
        for row in rows {
            let Value::Array(fields) = row else { return None };
            let [Value::Int(first), Value::Int(last), owners @ ..] = fields.as_slice() else {
                return None;
            };
            // The master stands first. If its address is not known, the hash slots have no owner. A
            // replica must not take its place, and another node's map may know the address.
            if let Some(master) = owners.first().and_then(|master| node(master, of)) {
                let range = (u16::try_from(*last).ok()?, master);
                map.ranges.insert(u16::try_from(*first).ok()?, range);
            }
            let replicas = u32::try_from(owners.len().saturating_sub(1)).unwrap_or(u32::MAX);
            map.most_replicas = map.most_replicas.max(replicas);
            map.nodes.extend(owners.iter().filter_map(|owner| node(owner, of)));
        }
        map.nodes.sort();
        map.nodes.dedup();
        Some(map)
    }

    pub fn owner(&self, hash_slot: u16) -> Option<&NodeAddress> {
        // A redirection is newer than the map. When the map is read anew, its corrections go with
        // it.
        self.moved.get(&hash_slot).or_else(|| {
            let (_, (last, owner)) = self.ranges.range(..=hash_slot).next_back()?;
            (hash_slot <= *last).then_some(owner)
        })
    }

    /// Takes note of what a redirection said.
    pub(super) fn correct(&mut self, hash_slot: u16, owner: NodeAddress) {
        self.moved.insert(hash_slot, owner);
    }

    /// All masters that own hash slots, each once.
    pub fn masters(&self) -> Vec<NodeAddress> {
        let owners = self.ranges.values().map(|(_, owner)| owner);
        let mut masters: Vec<_> = owners.chain(self.moved.values()).cloned().collect();
        masters.sort();
        masters.dedup();
        masters
    }

    /// All nodes, replicas among them.
    pub fn nodes(&self) -> &[NodeAddress] {
        &self.nodes
    }

    /// How many replicas the master with the most of them has.
    pub fn most_replicas(&self) -> u32 {
        self.most_replicas
    }

    pub fn knows(&self, address: &NodeAddress) -> bool {
        self.nodes.contains(address) || self.moved.values().any(|owner| owner == address)
    }
}

/// Reads a node. A node without a host is on the host that was asked. A node with a question mark
/// for a host is elsewhere, and then the cluster tells its IP address beside it.
fn node(owner: &Value, of: &NodeAddress) -> Option<NodeAddress> {
    let Value::Array(fields) = owner else { return None };
    let [host, Value::Int(port), rest @ ..] = fields.as_slice() else { return None };
    let host = match host_in(host)? {
        UNKNOWN => host_in(rest.get(1).and_then(ip)?)?,
        host => host,
    };
    // Only the node that was asked can lack an IP address: it has not met another node yet.
    let host = if host.is_empty() { &of.host } else { host };
    Some(NodeAddress { host: host.to_owned(), port: u16::try_from(*port).ok()? })
}

fn host_in(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(host) => std::str::from_utf8(host).ok(),
        Value::Nil => Some(""),
        _ => None,
    }
}

/// The IP address among the other fields of a node. The older protocol lists names and values in
/// turn.
fn ip(rest: &Value) -> Option<&Value> {
    let is_ip = |name: &Value| matches!(name, Value::BulkString(name) if name == b"ip");
    match rest {
        Value::Array(listed) => {
            listed.chunks_exact(2).find(|pair| is_ip(&pair[0])).map(|pair| &pair[1])
        }
        Value::Map(pairs) => pairs.iter().find(|(name, _)| is_ip(name)).map(|(_, value)| value),
        _ => None,
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
    fn every_hash_slot_has_the_owner_that_the_cluster_says_and_redirections_correct() {
        let rows = [row(0, 99, &[("", 1), ("h", 4)]), row(200, 16383, &[("h", 2), ("?", 5)])];
        let mut map = HashSlotMap::parse(&Value::Array(rows.to_vec()), &address(9)).unwrap();
        let owners =
            [0, 99, 100, 200, 16383].map(|hash_slot| map.owner(hash_slot).map(|owner| owner.port));
        assert_eq!(owners, [Some(1), Some(1), None, Some(2), Some(2)]);
        assert_eq!(map.nodes(), [1, 2, 4].map(address));
        assert_eq!(map.most_replicas(), 1);
        map.correct(100, address(3));
        assert_eq!(map.owner(100), Some(&address(3)));
        assert_eq!(map.masters(), [1, 2, 3].map(address));
        assert!(map.knows(&address(3)) && !map.knows(&address(9)));
    }

    /// A node at an unknown host, with the other fields that the cluster tells.
    fn unnamed(port: i64, rest: Value) -> Value {
        Value::Array(vec![bulk("?"), Value::Int(port), bulk("id"), rest])
    }

    fn map_of(owners: &[Value]) -> HashSlotMap {
        let row = [&[Value::Int(0), Value::Int(99)], owners].concat();
        HashSlotMap::parse(&Value::Array(vec![Value::Array(row)]), &address(9)).unwrap()
    }

    #[test]
    fn a_replica_does_not_own_the_slots_of_a_master_at_an_unknown_host() {
        let known = Value::Array(vec![bulk("h"), Value::Int(2), bulk("id"), Value::Array(vec![])]);
        for rest in [Value::Array(vec![]), Value::Array(vec![bulk("hostname")]), Value::Nil] {
            let map = map_of(&[unnamed(1, rest), known.clone()]);
            assert_eq!((map.owner(0), map.masters().len()), (None, 0));
            assert_eq!((map.nodes(), map.most_replicas()), (&[address(2)][..], 1));
        }
    }

    #[test]
    fn a_node_without_a_name_is_found_at_the_address_that_is_told_beside_it() {
        let pair = || (bulk("ip"), bulk("10.0.0.1"));
        let listed = Value::Array(vec![bulk("shard"), bulk("a"), pair().0, pair().1]);
        let at = NodeAddress { host: "10.0.0.1".into(), port: 1 };
        for rest in [listed, Value::Map(vec![(bulk("shard"), bulk("a")), pair()])] {
            assert_eq!(map_of(&[unnamed(1, rest)]).owner(0), Some(&at));
        }
        // A node that has met no other does not know its own address.
        let itself = unnamed(1, Value::Array(vec![bulk("ip"), bulk("")]));
        assert_eq!(map_of(&[itself]).owner(0), Some(&address(1)));
    }

    #[test]
    fn a_redirection_to_an_unknown_host_leads_nowhere() {
        assert_eq!(NodeAddress::parse("?:7", &address(1)), None);
    }

    #[test]
    fn a_redirection_without_a_host_is_to_the_same_host() {
        assert_eq!(NodeAddress::parse(":7", &address(1)), Some(address(7)));
        let six = NodeAddress { host: "::1".into(), port: 7 };
        assert_eq!(NodeAddress::parse("::1:7", &address(1)), Some(six));
        assert_eq!(NodeAddress::parse("x", &address(1)), None);
    }
}
