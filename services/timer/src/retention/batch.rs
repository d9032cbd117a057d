//! One transaction's worth of instances: archived, if they are to be, then removed.

use archive::Line;
use model::{After, Entry, InstanceId, Timestamp, limits};
use store::{Ended, EndedFilter, Page};

use super::{Group, Retention};
use crate::Error;

/// Journal rows that one transaction removes, unless a single instance has more.
const JOURNAL_ROWS_MAX: u64 = 5_000;
/// Bytes of the instances in one file of the archive before they are compressed, unless a single
/// instance has more.
const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Journal entries of an instance that is archived: they are in memory at once.
const ENTRIES_MAX: u64 = 200_000;

/// Divides instances into parts that one transaction removes in a short time.
pub(super) fn parts(free: Vec<Ended>) -> Vec<Vec<InstanceId>> {
    let (mut parts, mut rows) = (Vec::<Vec<InstanceId>>::new(), 0);
    for ended in free {
        rows += ended.journal_rows;
        match parts.last_mut() {
            Some(part) if rows <= JOURNAL_ROWS_MAX => part.push(ended.id),
            _ => {
                rows = ended.journal_rows;
                parts.push(vec![ended.id]);
            }
        }
    }
    parts
}

impl Retention {
    /// Removes these instances; those that are to be archived once the archive has them.
    pub(super) async fn retire(
        &self,
        ids: &[InstanceId],
        filter: &EndedFilter,
        now: Timestamp,
        group: &mut Group,
    ) -> Result<(), Error> {
        if group.after == After::Delete {
            let gone = self.store.remove_ended(ids, filter.before).await?;
            group.removed += gone.len() as u64;
            return Ok(());
        }
        let mut rest = ids.iter();
        let mut is_done = false;
        while !is_done {
            let (mut lines, mut bytes) = (Vec::new(), 0);
            is_done = true;
            for id in rest.by_ref() {
                let Some(line) = self.line(id, filter.before, group).await? else { continue };
                bytes += line.bytes();
                lines.push(line);
                if bytes >= FILE_BYTES_MAX {
                    is_done = false;
                    break;
                }
            }
            self.file(lines, filter, now, group).await?;
        }
        Ok(())
    }

    /// Writes these instances into one file, then removes them.
    async fn file(
        &self,
        lines: Vec<Line>,
        filter: &EndedFilter,
        now: Timestamp,
        group: &mut Group,
    ) -> Result<(), Error> {
        let Some(archive) = self.rules.archive.as_ref().filter(|_| !lines.is_empty()) else {
            return Ok(());
        };
        let ids: Vec<InstanceId> = lines.iter().map(|line| line.instance.id.clone()).collect();
        let nonce = (self.nonces)();
        archive.write(&filter.definition_id, &lines, now, &nonce).await?;
        group.archived += ids.len() as u64;
        group.removed += self.store.remove_ended(&ids, filter.before).await?.len() as u64;
        Ok(())
    }

    /// An instance as a line; none if it changed since it was found, or cannot be archived: then it
    /// stays.
    async fn line(
        &self,
        id: &InstanceId,
        before: Timestamp,
        group: &mut Group,
    ) -> Result<Option<Line>, Error> {
        let line = match self.store.load(id).await {
            Err(store::Error::Corrupt(reason)) => Err(reason),
            loaded => {
                let Some(instance) = loaded?.map(|loaded| loaded.instance) else {
                    return Ok(None);
                };
                if instance.finished_at.is_none() || instance.updated_at >= before {
                    return Ok(None);
                }
                let journal = self.journal(id).await?;
                let line = |journal| Line::new(instance, journal);
                journal.and_then(|journal| line(journal).map_err(|error| error.to_string()))
            }
        };
        match line {
            Ok(line) => Ok(Some(line)),
            Err(reason) => {
                tracing::error!(instance = %id, reason, "this instance cannot be archived; it stays");
                group.failed += 1;
                Ok(None)
            }
        }
    }

    async fn journal(&self, id: &InstanceId) -> Result<Result<Vec<Entry>, String>, Error> {
        let mut journal = Vec::new();
        for number in 0.. {
            let page = Page::numbered(number, limits::PAGE_ITEMS_MAX);
            let found = match self.store.journal(id, page).await {
                Err(store::Error::Corrupt(reason)) => return Ok(Err(reason)),
                found => found?,
            };
            if found.total > ENTRIES_MAX {
                let total = found.total;
                return Ok(Err(format!("its journal has {total} entries, above {ENTRIES_MAX}")));
            }
            journal.extend(found.items);
            if (number + 1) * limits::PAGE_ITEMS_MAX >= found.total {
                break;
            }
        }
        Ok(Ok(journal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_few_journal_rows_or_one_instance() {
        let ended = |(number, rows): (usize, &u64)| Ended {
            id: InstanceId::new(number.to_string()),
            updated_at: Timestamp::from_millis(0),
            journal_rows: *rows,
            is_held: false,
        };
        let rows = [1, JOURNAL_ROWS_MAX - 1, 1, JOURNAL_ROWS_MAX * 2, 1, 1];
        let parts = parts(rows.iter().enumerate().map(ended).collect());
        let sizes: Vec<_> = parts.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 1, 1, 2]);
    }
}
