//! The secrets that one turn reads. What it does not find may have been made a moment ago: the turn
//! remembers these names, so that [`Keeper::has_come`](crate::Keeper::has_come) looks for them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Vault;
use tokio::time::Instant;

use crate::Opened;
use crate::keeper::{NAME_CHARS_MAX, normal};

/// The names that a turn remembers.
const MISSED_MAX: usize = 100;

/// The secrets that one turn reads.
pub struct Watched {
    opened: Arc<Opened>,
    /// The time from which on what is in the database counts.
    pub(crate) begun: Instant,
    missed: Mutex<BTreeSet<String>>,
}

impl Watched {
    pub(crate) fn new(opened: Arc<Opened>, begun: Instant) -> Self {
        Self { opened, begun, missed: Mutex::default() }
    }

    /// The names that were read, and that no secret had.
    pub(crate) fn missed(&self) -> BTreeSet<String> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Vault for Watched {
    fn read(&self, name: &str) -> Result<String, String> {
        let read = self.opened.read(name);
        let known = normal(name);
        if read.is_err() && known.len() <= NAME_CHARS_MAX && !self.opened.has(&known) {
            let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
            if missed.len() < MISSED_MAX {
                missed.insert(known);
            }
        }
        read
    }

    fn values(&self) -> Vec<String> {
        self.opened.values()
    }

    fn seal(&self, text: &str, owner: &str, nonce: [u8; 12]) -> Result<String, String> {
        self.opened.seal(text, owner, nonce)
    }

    fn open(&self, sealed: &str, owner: &str) -> Option<String> {
        self.opened.open(sealed, owner)
    }

    fn locked(&self) -> Option<String> {
        self.opened.locked()
    }
}
