//! Payloads that are not kept, or kept for ever.

use async_trait::async_trait;
use model::{InstanceId, PayloadHash, Timestamp};
use store::{Cleared, Error, Payload, Payloads};

use super::{BrokenStore, Bug};

#[async_trait]
impl Payloads for BrokenStore {
    async fn begin_payload(
        &self,
        id: &str,
        place: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.twin.begin_payload(id, place, now).await
    }

    async fn write_payload(&self, id: &str, number: u32, bytes: Vec<u8>) -> Result<(), Error> {
        if number == 1 && self.has(Bug::PayloadPartUnkept) {
            return Ok(());
        }
        self.twin.write_payload(id, number, bytes).await
    }

    async fn complete_payload(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.twin.complete_payload(id, hash, size, now).await
    }

    async fn payload(&self, hash: &PayloadHash) -> Result<Option<Payload>, Error> {
        self.twin.payload(hash).await
    }

    async fn payload_part(&self, id: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        self.twin.payload_part(id, number).await
    }

    async fn payload_users(
        &self,
        hash: &PayloadHash,
        limit: u64,
    ) -> Result<Vec<InstanceId>, Error> {
        self.twin.payload_users(hash, limit).await
    }

    async fn clear_payloads(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: u64,
    ) -> Result<Cleared, Error> {
        if self.has(Bug::PayloadsUncleared) {
            return Ok(Cleared::default());
        }
        self.twin.clear_payloads(before, now, limit).await
    }

    async fn unname_payload(&self, id: &str, hash: &PayloadHash) -> Result<(), Error> {
        self.twin.unname_payload(id, hash).await
    }

    async fn forget_payload(&self, id: &str) -> Result<(), Error> {
        self.twin.forget_payload(id).await
    }
}
