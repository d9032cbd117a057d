//! Payloads in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{InstanceId, PayloadHash, Timestamp};

use super::instances::size;
use super::tables::{PayloadRow, Tables};
use super::{MemoryStore, Operation};
use crate::{Cleared, Error, Nameless, Payload, PayloadChanges, Payloads};

#[async_trait]
impl Payloads for MemoryStore {
    async fn begin_payload(
        &self,
        id: &str,
        place: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.run(Operation::BeginPayload, |tables| {
            let row = PayloadRow {
                complete: None,
                place: place.map(str::to_owned),
                is_nameless: false,
                parts: BTreeMap::new(),
                touched_at: now,
            };
            tables.payloads.entry(id.to_owned()).or_insert(row);
            Ok(())
        })
        .await
    }

    async fn write_payload(&self, id: &str, number: u32, bytes: Vec<u8>) -> Result<(), Error> {
        self.run(Operation::WritePayload, |tables| {
            let Some(row) = tables.payloads.get_mut(id) else { return Err(gone(id)) };
            row.parts.entry(number).or_insert(bytes);
            Ok(())
        })
        .await
    }

    async fn complete_payload(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.run(Operation::CompletePayload, |tables| {
            let known = tables.payload(hash).map(|(id, _)| id.to_owned());
            let is_own = known.as_deref().is_none_or(|known| known == id);
            let is_here = tables.payloads.get(id).is_some_and(|row| row.place.is_none());
            if !is_own && is_here {
                tables.payloads.remove(id);
            }
            let id = known.as_deref().unwrap_or(id);
            let row = tables.payloads.get_mut(id).filter(|row| !row.is_nameless);
            let Some(row) = row else { return Err(gone(id)) };
            row.complete = Some((hash.clone(), size));
            row.touched_at = now;
            Ok(is_own)
        })
        .await
    }

    async fn payload(&self, hash: &PayloadHash) -> Result<Option<Payload>, Error> {
        self.run(Operation::Payload, |tables| {
            let of = |(id, row): (&str, &PayloadRow)| {
                let (hash, size) = row.complete.clone()?;
                let (id, place) = (id.to_owned(), row.place.clone());
                Some(Payload { id, hash, size, touched_at: row.touched_at, place })
            };
            Ok(tables.payload(hash).and_then(of))
        })
        .await
    }

    async fn payload_part(&self, id: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        self.run(Operation::PayloadPart, |tables| {
            Ok(tables.payloads.get(id).and_then(|row| row.parts.get(&number)).cloned())
        })
        .await
    }

    async fn payload_users(
        &self,
        hash: &PayloadHash,
        limit: u64,
    ) -> Result<Vec<InstanceId>, Error> {
        self.run(Operation::PayloadUsers, |tables| {
            let uses = tables.payload_uses.iter().filter(|(used, _)| used == hash);
            Ok(uses.map(|(_, user)| user.clone()).take(size(limit)).collect())
        })
        .await
    }

    async fn clear_payloads(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: u64,
    ) -> Result<Cleared, Error> {
        self.run(Operation::ClearPayloads, |tables| {
            let rows = tables.payloads.iter();
            let mut old: Vec<_> = rows
                .filter(|(_, row)| row.touched_at < before)
                .map(|(id, row)| (row.touched_at, id.clone()))
                .collect();
            old.sort();
            old.truncate(size(limit));
            let mut cleared = Cleared { seen: old.len() as u64, ..Cleared::default() };
            for (_, id) in old {
                let Some(row) = tables.payloads.get_mut(&id) else { continue };
                let is_used = row.complete.as_ref().is_some_and(|(hash, _)| {
                    tables.payload_uses.iter().any(|(used, _)| used == hash)
                });
                if is_used {
                    row.touched_at = now;
                } else if let Some(place) = row.place.clone() {
                    (row.complete, row.is_nameless, row.touched_at) = (None, true, before);
                    cleared.nameless.push(Nameless { id, place });
                } else {
                    tables.payloads.remove(&id);
                    cleared.removed += 1;
                }
            }
            Ok(cleared)
        })
        .await
    }

    async fn unname_payload(&self, id: &str, hash: &PayloadHash) -> Result<(), Error> {
        self.run(Operation::UnnamePayload, |tables| {
            let has_name = |row: &&mut PayloadRow| {
                row.place.is_some() && row.complete.as_ref().is_some_and(|(is, _)| is == hash)
            };
            if let Some(row) = tables.payloads.get_mut(id).filter(has_name) {
                (row.complete, row.is_nameless) = (None, true);
            }
            Ok(())
        })
        .await
    }

    async fn forget_payload(&self, id: &str) -> Result<(), Error> {
        self.run(Operation::ForgetPayload, |tables| {
            if tables.payloads.get(id).is_some_and(|row| row.complete.is_none()) {
                tables.payloads.remove(id);
            }
            Ok(())
        })
        .await
    }
}

fn gone(id: &str) -> Error {
    Error::Refused(format!("the payload with the id {id} is not there any more"))
}

impl Tables {
    fn payload(&self, hash: &PayloadHash) -> Option<(&str, &PayloadRow)> {
        let is_it = |row: &PayloadRow| row.complete.as_ref().is_some_and(|(is, _)| is == hash);
        self.payloads.iter().find(|(_, row)| is_it(row)).map(|(id, row)| (id.as_str(), row))
    }

    /// Notes the payloads to which a burst of this instance refers.
    pub(super) fn refer(&mut self, user: &InstanceId, changes: &PayloadChanges, now: Timestamp) {
        for hash in &changes.used {
            self.payload_uses.insert((hash.clone(), user.clone()));
        }
        for hash in &changes.unused {
            self.payload_uses.remove(&(hash.clone(), user.clone()));
        }
        for hash in changes.touched() {
            for row in self.payloads.values_mut() {
                if row.complete.as_ref().is_some_and(|(is, _)| is == hash) {
                    row.touched_at = row.touched_at.max(now);
                }
            }
        }
    }
}
