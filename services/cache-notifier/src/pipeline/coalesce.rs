//! Gathers what is asked about one definition: however many publishers wait, the pointer is
//! written once for all of them, and the newest pointer satisfies them all.

use std::collections::BTreeMap;

use bus::Pointer;
use protocol::{CachePosition, Noticed};
use tokio::time::Instant;

/// One who waits for the answer.
pub(super) struct Waiter {
    pub(super) reply: Option<String>,
    pub(super) since: Instant,
    /// When the pointer was written, since the request came.
    pub(super) written_at: Option<Instant>,
}

/// Everything under way about one definition.
#[derive(Default)]
pub(super) struct Topic {
    pub(super) waiters: Vec<Waiter>,
    /// What each node last said it has.
    pub(super) heard: BTreeMap<String, CachePosition>,
    /// What the pointer says, once it is written.
    pub(super) noticed: Option<Noticed>,
    pub(super) is_writing: bool,
    /// Asked for again while it was being written.
    pub(super) is_stale: bool,
    /// The number that the last request named: what a retraction refers to.
    pub(super) version: u32,
}

impl Topic {
    /// Takes a request in; true when the pointer is to be written now.
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

    /// The pointer is written; true when it has to be written once more.
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

    /// A node has said what it has.
    pub(super) fn hear(&mut self, node: String, position: CachePosition) {
        self.heard.insert(node, position);
    }

    /// The nodes among these that have not said that they have this pointer. A greater revision
    /// proves nothing: it may be of a bucket that is gone.
    pub(super) fn missing(&self, nodes: &[String], pointer: Option<&Pointer>) -> Vec<String> {
        let revision = pointer.map_or(0, |pointer| pointer.revision);
        let version_id = pointer.and_then(|pointer| pointer.version_id.as_ref());
        let has = |node: &&String| {
            self.heard.get(*node).is_some_and(|said| {
                // A node of the version before tells the revision alone.
                said.revision == revision
                    && (said.version_id.is_none() || said.version_id.as_ref() == version_id)
            })
        };
        nodes.iter().filter(|node| !has(node)).cloned().collect()
    }
}
