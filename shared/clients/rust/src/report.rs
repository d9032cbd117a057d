//! What a worker reports about an attempt. A result that no message carries is an object of JetStream, which
//! a header of the report names.

use std::time::Duration;

use async_nats::{HeaderMap, jetstream};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep, timeout};

use crate::Failure;
use crate::wire::{
    OBJECT_PART_BYTES, PAYLOADS_STORE, RESULT_BYTES_MAX, body_bytes_max, fitting, token,
};

/// What to look at where an object is never stored: a refused message has no answer.
const OBJECTS_HINT: &str = "a user of NATS puts objects only if its permissions were printed with \
     --with-objects (staunch worker creds)";
/// How long one try to write an object may take.
const PUT_MAX: Duration = Duration::from_secs(30);
/// How long it is tried again.
const TRYING_MAX: Duration = Duration::from_secs(120);
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A report: its body, and the object that has the result, where the body has none.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) body: Bytes,
    object: Option<String>,
}

impl Report {
    /// The report about an attempt of this id and number that has a result.
    pub(crate) async fn result(
        nats: &async_nats::Client,
        (id, attempt): (&str, u32),
        output: &Value,
    ) -> Result<Self, Failure> {
        let body = json!({ "attempt": attempt, "output": output }).to_string();
        if body.len() <= body_bytes_max(nats.max_payload()) {
            return Ok(Self { body: body.into(), object: None });
        }
        let json = Bytes::from(output.to_string());
        let bytes = json.len();
        if bytes > RESULT_BYTES_MAX {
            let title = format!(
                "the result has {bytes} bytes, more than the {RESULT_BYTES_MAX} that a result may have"
            );
            return Err(Failure::for_good("ResultTooLarge", &title)
                .detail("keep large data elsewhere and return a reference to it"));
        }
        let object = object_name(id, attempt, &json);
        stored(nats, &object, &json).await?;
        let body = json!({ "attempt": attempt }).to_string().into();
        Ok(Self { body, object: Some(object) })
    }

    pub(crate) fn failure(failure: &Failure, attempt: u32) -> Self {
        Self { body: failure.body(attempt).into(), object: None }
    }

    /// Names the object that has the result.
    pub(crate) fn name_object(&self, headers: &mut HeaderMap) {
        if let Some(object) = &self.object {
            headers.insert("Staunch-Payload", format!("$payload={object}").as_str());
        }
    }
}

/// The name says what is in the object: one that somebody has replaced is not taken for this one.
fn object_name(id: &str, attempt: u32, json: &[u8]) -> String {
    let digest = Sha256::digest(json);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("tasks/{}/{attempt}/sha256-{digits}", token(id))
}

/// Writes an object until it is stored, or for as long as it is tried.
async fn stored(nats: &async_nats::Client, name: &str, bytes: &Bytes) -> Result<(), Failure> {
    let (begun, mut pause) = (Instant::now(), PAUSE_FIRST);
    loop {
        let error = match timeout(PUT_MAX, put(nats, name, bytes)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        if begun.elapsed() > TRYING_MAX {
            return Err(not_stored(&error));
        }
        tracing::warn!(error, object = name, "a large result is not stored yet");
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

fn not_stored(error: &str) -> Failure {
    let title = "the result is larger than a message, and its object is not stored";
    let detail = format!("the object store {PAYLOADS_STORE}: {error}; {OBJECTS_HINT}");
    let failure = Failure::for_good("ResultNotStored", title);
    Failure { retryable: true, ..failure.detail(detail) }
}

/// Writes an object. This is what a client of object stores does, and needs no right but to publish its
/// parts and what says of them.
async fn put(
    nats: &async_nats::Client,
    name: &str,
    bytes: &Bytes,
) -> Result<(), async_nats::Error> {
    let context = jetstream::new(nats.clone());
    let inbox = nats.new_inbox();
    let id = inbox.rsplit('.').next().unwrap_or_default();
    let part_max = fitting(OBJECT_PART_BYTES, nats.max_payload()).max(1);
    for part in bytes.chunks(part_max) {
        let subject = format!("$O.{PAYLOADS_STORE}.C.{id}");
        context.publish(subject, bytes.slice_ref(part)).await?.await?;
    }
    let about = json!({
        "name": name, "bucket": PAYLOADS_STORE, "nuid": id, "size": bytes.len(),
        "chunks": bytes.len().div_ceil(part_max), "options": { "max_chunk_size": part_max },
        "digest": format!("SHA-256={}", URL_SAFE.encode(Sha256::digest(bytes))),
    });
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Rollup", "sub");
    let subject = format!("$O.{PAYLOADS_STORE}.M.{}", URL_SAFE.encode(name));
    context.publish_with_headers(subject, headers, about.to_string().into()).await?.await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_object_says_what_is_in_it() {
        let seven = "sha256-7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451";
        assert_eq!(object_name("t 1", 2, b"7"), format!("tasks/t=201/2/{seven}"));
    }

    #[test]
    fn a_result_that_is_not_stored_says_which_permission_to_look_at() {
        let failure = not_stored("timed out");
        assert!(failure.retryable, "the permission may come");
        let detail = failure.detail.unwrap_or_default();
        for part in ["staunch_payloads: timed out", "--with-objects", "staunch worker creds"] {
            assert!(detail.contains(part), "{detail}");
        }
    }
}
