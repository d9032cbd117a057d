//! API keys and the audit log in memory.

use async_trait::async_trait;

use super::{MemoryStore, Operation};
use crate::{ApiKey, Audit, AuditFilter, Error, Keys, Listed, Page, check};

#[async_trait]
impl Keys for MemoryStore {
    async fn save_key(&self, key: ApiKey) -> Result<(), Error> {
        self.run(Operation::SaveKey, |tables| {
            check::texts([Some(key.id.as_str()), Some(&key.name), Some(&key.hash)])?;
            tables.keys.insert(key.id.clone(), key);
            Ok(())
        })
        .await
    }

    async fn key(&self, hash: &str) -> Result<Option<ApiKey>, Error> {
        self.run(Operation::Key, |tables| {
            Ok(tables.keys.values().find(|key| key.hash == hash).cloned())
        })
        .await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, Error> {
        self.run(Operation::Keys, |tables| {
            let mut keys: Vec<ApiKey> = tables.keys.values().cloned().collect();
            keys.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
            Ok(keys)
        })
        .await
    }

    async fn delete_key(&self, id: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteKey, |tables| Ok(tables.keys.remove(id).is_some())).await
    }

    async fn audit(&self, entry: Audit) -> Result<(), Error> {
        self.run(Operation::Audit, |tables| {
            check::audit(&entry)?;
            tables.audits.push(entry);
            Ok(())
        })
        .await
    }

    async fn audit_all(&self, entries: Vec<Audit>) -> Result<(), Error> {
        self.run(Operation::Audit, |tables| {
            entries.iter().try_for_each(check::audit)?;
            tables.audits.extend(entries);
            Ok(())
        })
        .await
    }

    async fn audits(&self, filter: &AuditFilter, page: Page) -> Result<Listed<Audit>, Error> {
        self.run(Operation::Audits, |tables| {
            let wanted = tables.audits.iter().enumerate().filter(|(_, one)| filter.fits(one));
            let mut found: Vec<(usize, &Audit)> = wanted.collect();
            found.sort_by_key(|(index, entry)| (entry.at, *index));
            Ok(page.of(found.into_iter().rev().map(|(_, entry)| entry.clone())))
        })
        .await
    }
}
