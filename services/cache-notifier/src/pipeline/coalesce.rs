//! Collects the requests about one definition: the pointer is written once for all publishers that
//! wait, and the newest pointer answers them all.

use std::collections::BTreeMap;

use bus::Pointer;
use protocol::{CachePosition, Noticed};
use tokio::time::Instant;

/// A publisher that waits for its answer.
pub(super) struct Waiter {
    pub(super) reply: Option<String>,
    pub(super) since: Instant,
    /// The time of the first write of the pointer after the request came.
    pub(super) written_at: Option<Instant>,
}

/// The requests about one definition, and the positions of the nodes.
#[derive(Default)]
pub(super) struct Topic {
    pub(super) waiters: Vec<Waiter>,
    /// The last position of each node.
    pub(super) heard: BTreeMap<String, CachePosition>,
    /// The pointer, once it is written.
    pub(super) noticed: Option<Noticed>,
    pub(super) is_writing: bool,
    /// Another request came while the pointer was being written.
    pub(super) is_stale: bool,
    /// The highest version number that a request named: a retraction refers to it.
    pub(super) version: u32,
}

impl Topic {
    /// Adds a request; true when the pointer has to be written now.
    pub(super) fn ask(&mut self, reply: Option<String>, version: u32) -> bool {
        self.waiters.push(Waiter { reply, since: Instant::now(), written_at: None });
        self.version = self.version.max(version);
        if self.is_writing {
            self.is_stale = true;
            return false;
        }
        self.is_writing = true;
        true
    }

    /// Notes that the pointer is written; true when it has to be written once more.
    pub(super) fn written(&mut self, noticed: Noticed) -> bool {
        let is_stale = std::mem::take(&mut self.is_stale);
        self.is_writing = is_stale;
        if !is_stale {
            for waiter in &mut self.waiters {
                waiter.written_at.get_or_insert_with(Instant::now);
            }
        }
        self.noticed = Some(noticed);
        is_stale
    }

    /// Notes the position of a node.
    pub(super) fn hear(&mut self, node: String, position: CachePosition) {
        self.heard.insert(node, position);
    }

    /// The nodes among these that have not confirmed this pointer, which is the one in this node's view.
    /// A higher revision confirms nothing: it may be of a bucket that was deleted. For the same reason
    /// nothing does while this view is older than what was written.
    pub(super) fn missing(&self, nodes: &[String], pointer: Option<&Pointer>) -> Vec<String> {
        if self.noticed.as_ref().is_some_and(|noticed| is_behind(pointer, noticed)) {
            return nodes.to_vec();
        }
        let revision = pointer.map_or(0, |pointer| pointer.revision);
        let version_id = pointer.and_then(|pointer| pointer.version_id.as_ref());
        let has = |node: &&String| {
            self.heard.get(*node).is_some_and(|said| {
                // A node of the previous release sends the revision alone.
                said.revision == revision
                    && (said.version_id.is_none() || said.version_id.as_ref() == version_id)
            })
        };
        nodes.iter().filter(|node| !has(node)).cloned().collect()
    }
}

/// Whether a view does not have yet what was written.
fn is_behind(view: Option<&Pointer>, written: &Noticed) -> bool {
    match view {
        // Nothing was written about a definition that was never published.
        None => written.revision > 0,
        Some(view) => {
            view.version < written.version
                || (view.version == written.version && view.version_id != written.version_id)
        }
    }
}
