//! Gathers what is asked about one definition: however many publishers wait, the pointer is
//! written once for all of them, and the newest pointer satisfies them all.

use std::collections::BTreeMap;

use bus::Revision;
use protocol::Noticed;
use tokio::time::Instant;

/// One who waits for the answer.
pub(super) struct Waiter {
    pub(super) reply: Option<String>,
    pub(super) since: Instant,
    /// The pointer is at least at this revision since the request came; none until it is written.
    pub(super) needs: Option<Revision>,
}

/// Everything under way about one definition.
#[derive(Default)]
pub(super) struct Topic {
    pub(super) waiters: Vec<Waiter>,
    /// What each node has said it has.
    pub(super) heard: BTreeMap<String, Revision>,
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
        self.waiters.push(Waiter { reply, since: Instant::now(), needs: None });
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
            for waiter in self.waiters.iter_mut().filter(|waiter| waiter.needs.is_none()) {
                waiter.needs = Some(noticed.revision);
            }
        }
        self.noticed = Some(noticed);
        is_stale
    }

    /// A node has said what it has.
    pub(super) fn hear(&mut self, node: String, revision: Revision) {
        let known = self.heard.entry(node).or_default();
        *known = (*known).max(revision);
    }

    /// The nodes among these that have not said that they have this revision.
    pub(super) fn missing(&self, nodes: &[String], revision: Revision) -> Vec<String> {
        let has = |node: &&String| self.heard.get(*node).is_some_and(|known| *known >= revision);
        nodes.iter().filter(|node| !has(node)).cloned().collect()
    }
}
