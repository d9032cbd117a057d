//! Reads what comes with a request: JSON bodies, query parameters, preferences.
//!
//! What cannot be read is a [`Problem`] that says where and why. Nothing here knows what a
//! workflow is.

use std::error::Error;
use std::iter::successors;
use std::str::FromStr;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::LengthLimitError;
use model::limits;
use serde::de::DeserializeOwned;

use crate::Problem;
use crate::load::NoRoom;

/// A JSON body; an empty one is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let content_type = content_type(request.headers());
        let bytes = bytes(request, state).await?;
        if bytes.trim_ascii().is_empty() {
            return parse(b"{}").map(Self);
        }
        if !content_type.as_deref().is_none_or(is_json) {
            return Err(Problem::unsupported(&content_type.unwrap_or_default()));
        }
        parse(&bytes).map(Self)
    }
}

/// The body as it is, within the limit of its route.
pub(crate) async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let limit = request.extensions().get::<BytesMax>().map(|limit| limit.0);
    let limit = limit.unwrap_or(limits::COMMAND_BYTES_MAX);
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(limit),
        _ => unread(&rejection, limit),
    })
}

/// How many bytes the body of a request may have: what the refusal names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytesMax(pub(crate) usize);

/// Why a body was not read to its end, of which so many bytes would have been.
pub(crate) fn unread(error: &(dyn Error + 'static), limit: usize) -> Problem {
    let mut causes = successors(Some(error), |cause| Error::source(*cause));
    if causes.clone().any(|cause| cause.is::<LengthLimitError>()) {
        return Problem::too_large(limit);
    }
    if causes.any(|cause| cause.is::<NoRoom>()) {
        return Problem::overloaded(
            "the bodies of all requests at work are as large as they may be together: try again \
             in a moment",
        );
    }
    Problem::bad_request("the body could not be read to its end")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        Problem::bad_request(format!("the body is not the JSON that is expected: {error}"))
    })
}

/// The media type without its parameters, lowercased.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = text.split(';').next().unwrap_or_default().trim();
    (!essence.is_empty()).then(|| essence.to_ascii_lowercase())
}

/// Whether a media type is JSON.
pub(crate) fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type == "text/json" || media_type.ends_with("+json")
}

/// Query parameters, by name in any case; one that is given twice, or with commas, is a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(pub(crate) Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<Vec<(String, String)>>::from_request_parts(parts, state).await {
            Ok(Query(pairs)) => Ok(Self(pairs)),
            Err(error) => Err(Problem::bad_request(format!("the query cannot be read: {error}"))),
        }
    }
}

impl Params {
    /// The first value that is not empty.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        self.named(name).next()
    }

    /// All values.
    pub(crate) fn many(&self, name: &str) -> Vec<String> {
        self.named(name)
            .flat_map(|value| value.split(','))
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .collect()
    }

    /// The value, read as something else than text.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem>
    where
        T::Err: std::fmt::Display,
    {
        let Some(value) = self.one(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|error| {
            Problem::bad_request(format!("query parameter {name} is {value:?}: {error}"))
        })
    }

    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

/// What the client prefers (RFC 7240).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefer {
    /// Answer as soon as it is accepted.
    pub(crate) respond_async: bool,
    /// Wait at most this long.
    pub(crate) wait: Option<Duration>,
}

impl<S: Send + Sync> FromRequestParts<S> for Prefer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let lines = parts.headers.get_all("prefer").iter().filter_map(|line| line.to_str().ok());
        Ok(lines.flat_map(|line| line.split(',')).fold(Self::default(), Self::and))
    }
}

impl Prefer {
    fn and(mut self, preference: &str) -> Self {
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "respond-async" => self.respond_async = true,
            "wait" => {
                let seconds = value.trim().trim_matches('"').parse().ok();
                self.wait = seconds.map(Duration::from_secs).or(self.wait);
            }
            _ => {}
        }
        self
    }

    /// How long to wait for an outcome.
    pub(crate) fn within(self, longest: Duration) -> Duration {
        self.wait.map_or(longest, |wait| wait.min(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_any_case_and_as_lists() {
        let pairs = [("Page", "2"), ("ids", "a,b"), ("IDS", "c"), ("empty", "")];
        let params = Params(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec());
        assert_eq!(params.read::<u64>("page").unwrap(), Some(2));
        assert_eq!(params.many("ids"), ["a", "b", "c"]);
        assert_eq!(params.one("empty"), None);
        let problem = params.read::<u64>("ids").unwrap_err();
        assert!(problem.detail().contains("query parameter ids is \"a,b\""), "{problem:?}");
    }

    #[test]
    fn preferences_are_understood() {
        let check = |text: &str, respond_async: bool, wait: Option<u64>| {
            let prefer = text.split(',').fold(Prefer::default(), Prefer::and);
            let wait = wait.map(Duration::from_secs);
            assert_eq!(prefer, Prefer { respond_async, wait }, "{text}");
        };
        check("respond-async", true, None);
        check("Respond-Async, wait=10", true, Some(10));
        check("wait=x, return=minimal", false, None);
    }
}
