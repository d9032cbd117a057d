//! Buckets and object stores, as one try reaches them.

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::object_store::{
    self, GetErrorKind, ObjectInfo, ObjectMetadata, ObjectStore,
};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use bus::{Content, OutsideError, Revision};
use protocol::header;
use serde_json::{Value, json};

use super::{MESSAGE_ID, object_of, of_api, refused};
use crate::NatsBus;
use crate::api::{ApiError, MESSAGE_NOT_FOUND, STREAM_NOT_FOUND};
use crate::object::{Cut, Reading};

/// Attempts to read an object that others write meanwhile.
const READS_MAX: usize = 3;

impl NatsBus {
    pub(super) async fn bucket(&self, bucket: &str) -> Result<Store, OutsideError> {
        let context = &self.open().map_err(refused)?.data_context;
        let found = context.get_key_value(bucket).await;
        found.map_err(|error| missing(&error, format!("the bucket {bucket}")))
    }

    pub(super) async fn object_store(&self, store: &str) -> Result<ObjectStore, OutsideError> {
        let context = &self.open().map_err(refused)?.data_context;
        let found = context.get_object_store(store).await;
        found.map_err(|error| missing(&error, format!("the object store {store}")))
    }

    pub(super) async fn read_object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Content>, OutsideError> {
        let what = object_of(store, name);
        for _ in 0..READS_MAX {
            let Some((object, opened)) = self.found_object(store, name).await? else {
                return Ok(None);
            };
            if object.info().size > bytes_max {
                return Err(OutsideError::Refused(format!(
                    "{what} has more than the {bytes_max} bytes that are allowed"
                )));
            }
            let content_type = content_type(object.info());
            // The reader compares the size and the hash of what it has read.
            match Reading::new(object, opened, what.clone()).whole().await {
                Ok(bytes) => return Ok(Some(Content { bytes, content_type })),
                Err(Cut::Gone) => {}
                Err(Cut::Failed(error)) => return Err(error),
            }
        }
        Err(OutsideError::Unavailable(format!("{what} is written anew each time it is read")))
    }

    /// What the leader of a bucket has at a key. Any copy may give the direct answers that the client asks
    /// for, also one to which the last write has not come yet.
    pub(super) async fn entry(
        &self,
        bucket: &str,
        key: &str,
    ) -> Result<Option<StreamMessage>, OutsideError> {
        let store = self.bucket(bucket).await?;
        let subject = format!("{}{key}", store.prefix);
        match store.stream.get_last_raw_message_by_subject(&subject).await {
            Ok(entry) => Ok(Some(entry)),
            Err(error) => {
                let text = format!("the key {key} of the bucket {bucket}: {error}");
                match error.kind() {
                    LastRawMessageErrorKind::NoMessageFound => Ok(None),
                    LastRawMessageErrorKind::InvalidSubject => Err(OutsideError::Refused(text)),
                    _ => Err(OutsideError::Unavailable(text)),
                }
            }
        }
    }

    pub(super) async fn put_object(
        &self,
        store: &str,
        about: &ObjectMetadata,
        mut bytes: &[u8],
    ) -> Result<(), OutsideError> {
        let put = self.object_store(store).await?.put(about.clone(), &mut bytes).await;
        put.map(drop).map_err(|error| {
            OutsideError::Unavailable(format!("{}: {error}", object_of(store, &about.name)))
        })
    }

    pub(super) async fn found_object(
        &self,
        store: &str,
        name: &str,
    ) -> Result<Option<(object_store::Object, ObjectStore)>, OutsideError> {
        let what = object_of(store, name);
        let opened = self.object_store(store).await?;
        match opened.get(name).await {
            // What its reader may use, and its limits, are those of the store that was asked.
            Ok(object) if object.info().bucket != store => {
                let elsewhere = &object.info().bucket;
                Err(OutsideError::Refused(format!("{what} is a link to the store {elsewhere}")))
            }
            Ok(object) => Ok(Some((object, opened))),
            Err(error) => match error.kind() {
                GetErrorKind::NotFound if self.leader_has(store, name).await? => {
                    let text = format!("{what}: the copy of the store that has answered is behind");
                    Err(OutsideError::Unavailable(text))
                }
                GetErrorKind::NotFound => Ok(None),
                GetErrorKind::InvalidName => Err(OutsideError::Refused(format!("{what}: {error}"))),
                GetErrorKind::TimedOut => Err(OutsideError::Late(format!("{what}: {error}"))),
                _ => Err(OutsideError::Unavailable(format!("{what}: {error}"))),
            },
        }
    }

    /// Whether the leader of a store has this object. One whose user may not ask it says no.
    async fn leader_has(&self, store: &str, name: &str) -> Result<bool, OutsideError> {
        let api = &self.open().map_err(refused)?.data_api;
        let subject = format!("$O.{store}.M.{}", URL_SAFE.encode(name));
        let asked = json!({ "last_by_subj": subject });
        match api.call(&format!("STREAM.MSG.GET.OBJ_{store}"), &asked).await {
            Ok(answer) => {
                let data = answer["message"]["data"].as_str().unwrap_or_default();
                let about = STANDARD.decode(data).unwrap_or_default();
                let about = serde_json::from_slice::<Value>(&about).unwrap_or_default();
                Ok(about["nuid"].is_string() && about["deleted"] != true)
            }
            Err(failure) if failure.code() == Some(MESSAGE_NOT_FOUND) => Ok(false),
            Err(ApiError::Denied(_)) => Ok(false),
            Err(failure) => Err(of_api(failure, &object_of(store, name))),
        }
    }

    /// Whether the entry at this revision has this nonce.
    pub(super) async fn wrote(&self, bucket: &str, revision: Revision, nonce: &str) -> bool {
        let Ok(inner) = self.open() else { return false };
        let stream = inner.data_context.get_stream_no_info(format!("KV_{bucket}")).await;
        let Ok(stream) = stream else { return false };
        let written = stream.get_raw_message(revision).await;
        written.is_ok_and(|it| it.headers.get(MESSAGE_ID).is_some_and(|id| id.as_str() == nonce))
    }
}

pub(super) fn content_type(about: &ObjectInfo) -> Option<String> {
    let written = about.headers.as_ref().and_then(|headers| headers.get(header::CONTENT_TYPE));
    written.map(|value| value.as_str().to_owned())
}

/// The reason why a bucket or a store cannot be used. The client's error has the server's only as text.
pub(super) fn missing(error: &dyn std::error::Error, what: String) -> OutsideError {
    let text = error.to_string();
    if text.contains(&format!("error code {STREAM_NOT_FOUND}")) {
        OutsideError::Absent(format!("{what} does not exist"))
    } else {
        OutsideError::Unavailable(format!(
            "{what}: its stream does not answer at this moment, as one without a leader: {text}"
        ))
    }
}
