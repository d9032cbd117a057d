//! Rendezvous hashing: every node computes the owner of a shard, without communication. When a node
//! comes or goes, only the shards that it gains or had move.

/// The owner of a shard among the nodes: the one with the highest hash. The order of the nodes
/// does not matter, and every machine and version gives the same answer. `None` without nodes.
#[must_use]
pub fn owner_of(shard: i32, nodes: &[String]) -> Option<&str> {
    nodes.iter().map(|node| (weight(shard, node), node.as_str())).max().map(|(_, node)| node)
}

/// FNV-1a over the node and the shard, with a final mix so that neighbouring shards get unrelated
/// weights.
fn weight(shard: i32, node: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in node.bytes().chain([0]).chain(shard.to_be_bytes()) {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 30;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 27;
    hash = hash.wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("node-{number}")).collect()
    }

    #[test]
    fn the_order_of_the_nodes_does_not_matter() {
        let nodes = names(5);
        let mut turned = nodes.clone();
        turned.reverse();
        for shard in 0..64 {
            assert_eq!(owner_of(shard, &nodes), owner_of(shard, &turned));
        }
        assert_eq!(owner_of(3, &[]), None);
    }

    #[test]
    fn only_the_shards_of_a_node_that_leaves_move() {
        let before = names(5);
        let after: Vec<_> = before.iter().filter(|node| *node != "node-2").cloned().collect();
        for shard in 0..64 {
            let owner = owner_of(shard, &before);
            if owner != Some("node-2") {
                assert_eq!(owner_of(shard, &after), owner);
            }
        }
    }

    #[test]
    fn shards_are_spread_over_the_nodes() {
        let nodes = names(4);
        for node in &nodes {
            let owned = (0..64).filter(|shard| owner_of(*shard, &nodes) == Some(node)).count();
            assert!((6..=28).contains(&owned), "{node} owns {owned} of 64 shards");
        }
    }

    #[test]
    fn the_answer_never_changes_between_versions() {
        let nodes = names(3);
        let owners: Vec<_> = (0..8).filter_map(|shard| owner_of(shard, &nodes)).collect();
        let letters: String = owners.iter().filter_map(|owner| owner.chars().last()).collect();
        assert_eq!(letters, "22020012");
    }
}
