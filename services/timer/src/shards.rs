//! The shards of this node, by rendezvous hashing over the live nodes with the role `timer`.

use bus::{Presence, owner_of};
use model::limits;

/// The role of the members that share the shards.
pub const ROLE: &str = "timer";

/// The shards of this node. An overlap with another that sees the members differently is harmless.
pub(crate) fn owned(presence: &Presence, node: &str) -> Vec<i32> {
    let nodes = members(presence);
    (0..limits::TIMER_SHARDS).filter(|shard| owner_of(*shard, &nodes) == Some(node)).collect()
}

/// Whether this node does the work that only one node does: it owns shard 0.
pub(crate) fn is_first(presence: &Presence, node: &str) -> bool {
    owner_of(0, &members(presence)) == Some(node)
}

fn members(presence: &Presence) -> Vec<String> {
    let live = presence.live().into_iter();
    live.filter(|member| member.roles.iter().any(|role| role == ROLE))
        .map(|member| member.node)
        .collect()
}
