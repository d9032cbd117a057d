//! Rows that are of no use any more, in memory.

use async_trait::async_trait;
use model::Timestamp;

use super::instances::size;
use super::tables::Tables;
use super::{MemoryStore, Operation};
use crate::{Error, Leftover, Leftovers};

#[async_trait]
impl Leftovers for MemoryStore {
    async fn clear(&self, what: Leftover, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.run(Operation::Clear, |tables| {
            let cleared = match what {
                Leftover::Tokens => tables.clear_tokens(before, size(limit)),
                Leftover::Timers => tables.clear_timers(before, size(limit)),
                Leftover::Schedules => tables.clear_schedules(size(limit)),
            };
            Ok(u64::try_from(cleared).unwrap_or(u64::MAX))
        })
        .await
    }
}

impl Tables {
    fn clear_tokens(&mut self, before: Timestamp, limit: usize) -> usize {
        let mut expired: Vec<_> = self
            .tokens
            .values()
            .filter(|token| token.expires_at < before)
            .map(|token| (token.expires_at, token.hash.clone()))
            .collect();
        expired.sort();
        expired.truncate(limit);
        expired.iter().for_each(|(_, hash)| drop(self.tokens.remove(hash)));
        expired.len()
    }

    fn clear_timers(&mut self, before: Timestamp, limit: usize) -> usize {
        let mut orphans: Vec<_> = self
            .bookmarks
            .iter()
            .filter(|((instance, _), _)| !self.instances.contains_key(instance))
            .filter_map(|(key, row)| Some((row.bookmark.due_at?, key.clone())))
            .filter(|(due_at, _)| *due_at < before)
            .collect();
        orphans.sort();
        orphans.truncate(limit);
        orphans.iter().for_each(|(_, key)| drop(self.bookmarks.remove(key)));
        orphans.len()
    }

    fn clear_schedules(&mut self, limit: usize) -> usize {
        let mut useless = Vec::new();
        for row in self.schedules.values().filter(|row| row.retired) {
            let of = &row.schedule.definition_id;
            let has_version = self.definitions.values().any(|known| known.definition_id == *of);
            let mut instances = self.instances.values();
            if !has_version && !instances.any(|row| row.instance.definition_id == *of) {
                useless.push(row.schedule.id.clone());
            }
        }
        useless.truncate(limit);
        useless.iter().for_each(|id| drop(self.schedules.remove(id)));
        useless.len()
    }
}
