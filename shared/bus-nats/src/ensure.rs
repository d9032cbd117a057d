//! Compares streams and consumers with the topology, and creates or changes them.

use std::time::Duration;

use bus::Error;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::{Api, ApiError, CONSUMER_NOT_FOUND, STREAM_NOT_FOUND};
use crate::topology::ConsumerSpec;

/// Longer than the elections of a cluster that has just started.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(200);
/// "JetStream system temporarily unavailable", "no suitable peers", "insufficient resources" of a
/// cluster whose servers do not all know each other yet, and "stream offline".
const ELECTING: [u64; 4] = [10008, 10005, 10023, 10118];
const STORAGE_INSUFFICIENT: u64 = 10047;
const STORAGE_ADVICE: &str = ". The server reserves the whole size of a stream when it is created, \
     3 GiB for all of them: give JetStream more with max_file_store (unset, it is three quarters \
     of the free disk)";
pub(crate) const NO_PEERS: u64 = 10005;
const PEERS_ADVICE: &str = ". As many servers as copies are asked for must run in one cluster, with the \
     tags: look at --cluster, --tag and --replicas, and at `nats server list`";

/// Limits of a stream that an operator may raise.
const RAISED: [&str; 2] = ["max_bytes", "max_age"];

/// Calls the API, and again while a cluster elects its leaders.
async fn call(api: &Api, subject: &str, body: &Value) -> Result<Value, ApiError> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        let failure = match api.call(subject, body).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let is_passing = matches!(failure, ApiError::NoResponders | ApiError::Timeout)
            || failure.code().is_some_and(|code| ELECTING.contains(&code));
        let has_jetstream = api.client().server_info().jetstream;
        if !(is_passing && has_jetstream) || Instant::now() >= give_up {
            return Err(failure);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

pub(crate) async fn stream_config(api: &Api, name: &str) -> Result<Option<Value>, Error> {
    match call(api, &format!("STREAM.INFO.{name}"), &Value::Null).await {
        Ok(info) => Ok(Some(info["config"].clone())),
        Err(failure) if failure.code() == Some(STREAM_NOT_FOUND) => Ok(None),
        Err(failure) => Err(unanswered(failure, name)),
    }
}

pub(crate) async fn consumer_config(
    api: &Api,
    stream: &str,
    name: &str,
) -> Result<Option<Value>, Error> {
    let subject = format!("CONSUMER.INFO.{stream}.{name}");
    match call(api, &subject, &Value::Null).await {
        Ok(info) => Ok(Some(info["config"].clone())),
        Err(failure) if matches!(failure.code(), Some(STREAM_NOT_FOUND | CONSUMER_NOT_FOUND)) => {
            Ok(None)
        }
        Err(failure) => Err(unanswered(failure, name)),
    }
}

/// Creates a stream as `new`, or gives one that is there the settings of `wanted`. Limits that were
/// raised stay.
pub(crate) async fn ensure_stream(
    api: &Api,
    name: &str,
    wanted: &Value,
    new: &Value,
) -> Result<(), Error> {
    let there = stream_config(api, name).await?;
    let (subject, config) = match there {
        None => (format!("STREAM.CREATE.{name}"), new.clone()),
        Some(there) => {
            let mut merged = merge(&there, wanted);
            for limit in RAISED {
                if is_above(&there[limit], &merged[limit]) {
                    merged[limit] = there[limit].clone();
                }
            }
            if merged == there {
                return Ok(());
            }
            (format!("STREAM.UPDATE.{name}"), merged)
        }
    };
    let done = call(api, &subject, &config).await;
    done.map(drop).map_err(|failure| refused(failure, &format!("the stream {name}")))
}

pub(crate) async fn ensure_consumer(api: &Api, spec: &ConsumerSpec) -> Result<(), Error> {
    ensure_named(api, &spec.stream, &spec.name, spec.config()).await
}

/// Creates or changes a consumer.
pub(crate) async fn ensure_named(
    api: &Api,
    stream: &str,
    name: &str,
    wanted: Value,
) -> Result<(), Error> {
    let config = match consumer_config(api, stream, name).await? {
        None => wanted,
        Some(there) => {
            let merged = merge(&there, &wanted);
            if merged == there {
                return Ok(());
            }
            merged
        }
    };
    let body = json!({ "stream_name": stream, "config": config });
    let done = call(api, &format!("CONSUMER.CREATE.{stream}.{name}"), &body).await;
    done.map(drop).map_err(|failure| refused(failure, &format!("the consumer {name} of {stream}")))
}

/// The existing configuration, overwritten by all wanted settings.
fn merge(there: &Value, wanted: &Value) -> Value {
    let mut merged = there.clone();
    if let (Some(merged), Some(wanted)) = (merged.as_object_mut(), wanted.as_object()) {
        for (name, value) in wanted {
            if !is_default(value) || merged.contains_key(name) {
                merged.insert(name.clone(), value.clone());
            }
        }
    }
    merged
}

/// One limit of a stream is above another one. There is none where it is missing, 0 or negative.
fn is_above(one: &Value, other: &Value) -> bool {
    let limit = |value: &Value| value.as_i64().filter(|limit| *limit > 0).unwrap_or(i64::MAX);
    limit(one) > limit(other)
}

/// The server leaves such a setting out.
fn is_default(value: &Value) -> bool {
    value == &json!(0) || value == &json!(false)
}

pub(crate) fn compare(
    name: &str,
    there: Option<Value>,
    wanted: &Value,
    fields: &[&str],
    faults: &mut Vec<String>,
) {
    let Some(there) = there else { return faults.push(format!("{name} is missing")) };
    for field in fields {
        let (found, expected) = (&there[*field], &wanted[*field]);
        let is_left_out = found.is_null() && is_default(expected);
        if found != expected && !is_left_out {
            faults.push(format!("{name} has {field} = {found}, expected {expected}"));
        }
    }
}

fn unanswered(failure: ApiError, what: &str) -> Error {
    match failure {
        ApiError::NoResponders => Error::NotProvisioned(
            "the server has no JetStream: start nats-server with -js or a jetstream block".into(),
        ),
        failure => failure.into_error(what),
    }
}

fn refused(failure: ApiError, what: &str) -> Error {
    match failure {
        ApiError::Refused { code, text } => {
            let advice = match code {
                STORAGE_INSUFFICIENT => STORAGE_ADVICE,
                NO_PEERS => PEERS_ADVICE,
                _ => "",
            };
            Error::NotProvisioned(format!(
                "{what} cannot be created or changed: {text} ({code}){advice}"
            ))
        }
        failure => unanswered(failure, what),
    }
}
