//! Buckets: raw publishes with headers, because the client's own calls lose the expiry.

use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::jetstream::{self, ErrorCode};
use async_trait::async_trait;
use bus::{Bucket, Bus, Entry, Error, Kv, Outside, Put, Revision, Watch};
use bytes::Bytes;
use futures::future::try_join_all;
use model::Timestamp;
use serde_json::{Value, json};

use crate::NatsBus;
use crate::api::{
    ApiError, DUPLICATE_IN_PROCESS, WRONG_LAST_SEQUENCE, WRONG_LAST_SEQUENCE_CONSTANT,
};
use crate::bucket::{is_tombstone, remove};
use crate::options::ANSWER_MAX;
use crate::queue::timestamp;

const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const MESSAGE_ID: &str = "Nats-Msg-Id";
const TTL: &str = "Nats-TTL";

struct NatsKv {
    bus: NatsBus,
    bucket: Bucket,
}

impl Bus for NatsBus {
    fn kv(&self, bucket: Bucket) -> Arc<dyn Kv> {
        Arc::new(NatsKv::new(self.clone(), bucket))
    }

    fn outside(&self) -> Arc<dyn Outside> {
        Arc::new(self.clone())
    }
}

impl NatsBus {
    /// When a key expires, by the server's clock, unless it is written again; `None` if it does not
    /// expire, or is gone.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn expiry(&self, bucket: Bucket, key: &str) -> Result<Option<Timestamp>, Error> {
        let kv = NatsKv::new(self.clone(), bucket);
        let found = kv.stream().await?.get_last_raw_message_by_subject(&kv.subject(key)?).await;
        let message = match found {
            Ok(message) => message,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                return Ok(None);
            }
            Err(error) => return Err(Error::Unavailable(format!("the read of {key}: {error}"))),
        };
        let ttl = message.headers.get(TTL).and_then(|ttl| ttl.as_str().parse().ok());
        let written = timestamp(message.time.unix_timestamp_nanos());
        Ok(ttl.map(|seconds| written.after(Duration::from_secs(seconds))))
    }
}

impl NatsKv {
    fn new(bus: NatsBus, bucket: Bucket) -> Self {
        Self { bus, bucket }
    }

    fn subject(&self, key: &str) -> Result<String, Error> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=/.".contains(&byte);
        if key.split('.').any(str::is_empty) || !key.bytes().all(is_allowed) {
            return Err(Error::Corrupt(format!("{key:?} is not a key: use A-Z a-z 0-9 - _ = / .")));
        }
        Ok(format!("$KV.{}.{key}", self.bucket.name()))
    }

    /// The entry at this revision was written by this call's earlier try, whose answer was lost. A
    /// cluster recognises the message id; a single server compares revisions first and refuses.
    async fn is_own(&self, revision: Revision, nonce: &str) -> bool {
        let Ok(stream) = self.stream().await else { return false };
        let written = stream.get_raw_message(revision).await;
        written.is_ok_and(|it| it.headers.get(MESSAGE_ID).is_some_and(|id| id.as_str() == nonce))
    }

    /// The server has lost the bucket.
    async fn heal(&self) -> bool {
        let Ok(inner) = self.bus.open() else { return false };
        inner.healer.heal(&format!("KV_{}", self.bucket.name())).await
    }

    async fn stream(&self) -> Result<jetstream::stream::Stream<()>, Error> {
        let name = format!("KV_{}", self.bucket.name());
        let stream = self.bus.open()?.control_context.get_stream_no_info(&name).await;
        stream.map_err(|error| Error::Unavailable(format!("the bucket {name}: {error}")))
    }

    /// The newest message of a key, from the stream's leader, which is newer than a follower.
    async fn newest(&self, key: &str) -> Result<Option<StreamMessage>, Error> {
        let subject = self.subject(key)?;
        let stream = self.stream().await?;
        let bucket = self.bucket.name();
        let what =
            |error: &dyn std::fmt::Display| format!("the read of {key} in {bucket}: {error}");
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) => match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => Ok(None),
                LastRawMessageErrorKind::JetStream(cause)
                    if cause.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    if self.heal().await {
                        Ok(None)
                    } else {
                        Err(Error::NotProvisioned(what(&error)))
                    }
                }
                _ => Err(Error::Unavailable(what(&error))),
            },
        }
    }

    /// What the server says about the bucket.
    async fn info(&self, filter: &Value) -> Result<Value, Error> {
        let bucket = self.bucket.name();
        let api = &self.bus.open()?.control_api;
        let info = api.call(&format!("STREAM.INFO.KV_{bucket}"), filter).await;
        info.map_err(|failure| failure.into_error(&format!("the bucket {bucket}")))
    }

    async fn write(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        nonce: &str,
        headers: impl FnOnce(&mut HeaderMap) + Send,
    ) -> Result<Put, Error> {
        let subject = self.subject(key)?;
        let api = &self.bus.open()?.control_api;
        let mut all = HeaderMap::new();
        all.insert(EXPECTED, expected.to_string());
        all.insert(MESSAGE_ID, nonce);
        headers(&mut all);
        let answer = api.publish(subject, all, value, ANSWER_MAX).await;
        if matches!(answer, Err(ApiError::NoResponders)) {
            // Either a leader is being elected, or the server has lost the bucket.
            self.bus.open()?.healer.heal_soon(&format!("KV_{}", self.bucket.name()));
        }
        match answer {
            Ok(stored) => Ok(Put::Won(stored.sequence)),
            Err(ApiError::Refused { code: WRONG_LAST_SEQUENCE, text }) => {
                let at = text.rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
                match at {
                    Some(at) if at > 0 && self.is_own(at, nonce).await => Ok(Put::Won(at)),
                    at => Ok(Put::Lost(at)),
                }
            }
            // Another write is in progress; which one wins is not known yet.
            Err(ApiError::Refused { code: WRONG_LAST_SEQUENCE_CONSTANT, .. }) => {
                Ok(Put::Lost(None))
            }
            Err(ApiError::Refused { code: DUPLICATE_IN_PROCESS, text }) => {
                Err(Error::Unknown(text))
            }
            Err(failure) => {
                Err(failure.into_error(&format!("the write of {key} in {}", self.bucket.name())))
            }
        }
    }
}

/// Whole seconds, the only unit that the server accepts; rounded up.
fn seconds(ttl: Duration) -> String {
    let seconds = ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0);
    seconds.max(1).to_string()
}

#[async_trait]
impl Kv for NatsKv {
    async fn put_if(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        ttl: Option<Duration>,
        nonce: &str,
    ) -> Result<Put, Error> {
        let put = self.write(key, value, expected, nonce, |headers| {
            if let Some(ttl) = ttl {
                headers.insert(TTL, seconds(ttl));
            }
        });
        put.await
    }

    async fn purge_if(&self, key: &str, expected: Revision, nonce: &str) -> Result<Put, Error> {
        let purge = self.write(key, Bytes::new(), expected, nonce, |headers| {
            remove(self.bucket, headers);
            if let Some(ttl) = self.bucket.tombstone_ttl() {
                headers.insert(TTL, seconds(ttl));
            }
        });
        purge.await
    }

    async fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        Ok(self.newest(key).await?.map(|message| {
            let is_tombstone = is_tombstone(Some(&message.headers));
            let value = (!is_tombstone).then_some(message.payload);
            Entry { value, revision: message.sequence }
        }))
    }

    async fn removed_at(&self, key: &str) -> Result<Option<Timestamp>, Error> {
        let newest = self.newest(key).await?;
        let tombstone = newest.filter(|message| is_tombstone(Some(&message.headers)));
        Ok(tombstone.map(|message| timestamp(message.time.unix_timestamp_nanos())))
    }

    async fn revision(&self) -> Result<Revision, Error> {
        let info = self.info(&Value::Null).await?;
        info["state"]["last_seq"].as_u64().ok_or_else(|| {
            let bucket = self.bucket.name();
            Error::Corrupt(format!("the server does not name the last write to {bucket}"))
        })
    }

    async fn entries(&self) -> Result<Vec<(String, Entry)>, Error> {
        let prefix = format!("$KV.{}.", self.bucket.name());
        let info = self.info(&json!({ "subjects_filter": format!("{prefix}>") })).await?;
        let subjects = info["state"]["subjects"].as_object();
        let keys = subjects.into_iter().flat_map(|subjects| subjects.keys());
        let read = keys.filter_map(|subject| subject.strip_prefix(&prefix)).map(async |key| {
            let entry = self.get(key).await?.filter(|entry| entry.value.is_some());
            Ok(entry.map(|entry| (key.to_owned(), entry)))
        });
        Ok(try_join_all(read).await?.into_iter().flatten().collect())
    }

    async fn watch(&self) -> Result<Watch, Error> {
        let inner = self.bus.open()?;
        match inner.hubs.get(&self.bucket) {
            Some(hub) => Ok(hub.watch()),
            None => Err(Error::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_never_shorter_than_asked_for() {
        assert_eq!(seconds(Duration::from_millis(200)), "1");
        assert_eq!(seconds(Duration::from_secs(15)), "15");
        assert_eq!(seconds(Duration::from_millis(1001)), "2");
    }
}
