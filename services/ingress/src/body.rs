//! Reads the parts of a request: JSON bodies, query parameters, preferences.
//!
//! An unreadable part is a [`Problem`] that says where and why. Nothing here knows what a workflow
//! is.

pub(crate) mod lenient;
mod mismatch;

use std::error::Error;
use std::iter::successors;
use std::str::FromStr;
use std::time::Duration;

use axum::body::{Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Query, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::LengthLimitError;
use model::{depth, json, limits, media};
use serde::de::DeserializeOwned;

use crate::Problem;
use crate::auth::permission;
pub(crate) use mismatch::Mismatch;

/// A JSON body, perhaps with a byte order mark before it; an empty one is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        must_be_plain(request.headers())?;
        let content_type = content_type(request.headers());
        let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let is_secret = route.is_some_and(permission::takes_secret);
        let bytes = bytes(request).await?;
        if json::without_byte_order_mark(&bytes).is_empty() {
            return parse(b"{}").map(Self);
        }
        if !content_type.as_deref().is_none_or(media::is_json) {
            return Err(Problem::unsupported(&content_type.unwrap_or_default()));
        }
        if is_secret { parse_secret(&bytes).map(Self) } else { parse(&bytes).map(Self) }
    }
}

/// Refuses a body that is compressed: it is not unpacked here.
pub(crate) fn must_be_plain(headers: &HeaderMap) -> Result<(), Problem> {
    let encodings = headers.get_all(CONTENT_ENCODING).iter().map(|it| it.to_str().unwrap_or("?"));
    let mut packed = encodings.filter(|it| !it.trim().eq_ignore_ascii_case("identity"));
    packed.next().map_or(Ok(()), |encoding| Err(Problem::encoded(encoding)))
}

/// The bytes of the body, within the limit of its route.
async fn bytes(request: Request) -> Result<Bytes, Problem> {
    let limit = BytesMax::of(&request);
    read(request.into_body(), limit).await
}

/// The largest body of a request, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytesMax(pub(crate) usize);

impl BytesMax {
    /// The limit of the request's route.
    pub(crate) fn of(request: &Request) -> usize {
        request.extensions().get::<Self>().map_or(limits::COMMAND_BYTES_MAX, |limit| limit.0)
    }
}

/// Reads a body to its end. A body that declares more bytes than the limit is refused before any of
/// them is read, and the client gets no `100 Continue`.
pub(crate) async fn read(body: axum::body::Body, limit: usize) -> Result<Bytes, Problem> {
    let declared = body.size_hint().lower();
    if usize::try_from(declared).is_ok_and(|declared| declared <= limit) {
        to_bytes(body, limit).await.map_err(|error| unread(&error, limit))
    } else {
        Err(Problem::too_large(limit))
    }
}

/// The bodies of all requests in progress have reached their common limit.
#[derive(Debug, thiserror::Error)]
#[error("there is no room for the body")]
pub(crate) struct NoRoom;

/// The body does not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the body does not arrive in time")]
pub(crate) struct TooSlow;

/// The problem of a body that was not read to its end.
pub(crate) fn unread(error: &(dyn Error + 'static), limit: usize) -> Problem {
    let causes = successors(Some(error), |cause| Error::source(*cause));
    let is = |wanted: fn(&(dyn Error + 'static)) -> bool| causes.clone().any(wanted);
    if is(|cause| cause.is::<LengthLimitError>()) {
        return Problem::too_large(limit);
    }
    if is(|cause| cause.is::<NoRoom>()) {
        return Problem::overloaded(
            "the bodies of all requests at work are as large as they may be together: try again \
             in a moment",
        );
    }
    if is(|cause| cause.is::<TooSlow>()) {
        let detail = format!(
            "the body did not arrive in time: send it within {} s, without a pause of more than \
             {} s",
            limits::BODY_TIME_MAX.as_secs(),
            limits::BODY_PAUSE_MAX.as_secs()
        );
        return Problem::new(StatusCode::REQUEST_TIMEOUT, "body-timeout", detail);
    }
    Problem::bad_request("the body could not be read to its end")
}

/// Reads JSON, within its limits.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    lenient::from_value(value_in(bytes)?).map_err(|mismatch| unexpected(&mismatch))
}

/// Reads JSON with secrets; a refusal shows none of its values.
fn parse_secret<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    lenient::from_value(value_in(bytes)?).map_err(|mismatch| unexpected(&mismatch.without_value()))
}

fn value_in(bytes: &[u8]) -> Result<serde_json::Value, Problem> {
    let bytes = json::without_byte_order_mark(bytes);
    depth::check_json_carrier(bytes).map_err(|flaw| Problem::bad_request(flaw.to_string()))?;
    json::check_integers(bytes)
        .map_err(|flaw| Problem::bad_request(format!("in the body, {flaw}")))?;
    serde_json::from_slice(bytes).map_err(|error| unexpected(&error))
}

fn unexpected(error: &dyn Error) -> Problem {
    Problem::bad_request(format!("the body is not the JSON that is expected: {error}"))
}

/// The media type without its parameters, lowercased.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    media::essence(headers.get(CONTENT_TYPE)?.to_str().ok()?)
}

/// Query parameters, by name in any case. A parameter that is given twice, or with commas, is a
/// list.
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
    /// Refuses names that are not among these, in any case.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        match self.0.iter().find(|(name, _)| !lenient::is_member(name, known)) {
            None => Ok(()),
            Some((name, _)) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(Problem::bad_request(format!(
                    "there is no query parameter {name:?} here: use {known}"
                )))
            }
        }
    }

    /// Refuses two values of one of these names, which would have to be one. The same value twice is one.
    pub(crate) fn single(&self, names: &[&str]) -> Result<(), Problem> {
        const SHOWN_MAX: usize = 50;
        for name in names {
            let mut values = self.named(name);
            let first = values.next();
            if let Some((first, other)) = first.zip(values.find(|value| Some(*value) != first)) {
                let [first, other] =
                    [first, other].map(|value| value.chars().take(SHOWN_MAX).collect::<String>());
                return Err(Problem::bad_request(format!(
                    "query parameter {name} is there with several values, {first:?} and {other:?}: \
                     send one request for each"
                )));
            }
        }
        Ok(())
    }

    /// The names, as they were sent.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

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

    /// All values, as they are: with their commas and spaces.
    pub(crate) fn whole(&self, name: &str) -> Vec<&str> {
        self.named(name).collect()
    }

    /// The value, parsed.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem>
    where
        T::Err: std::fmt::Display,
    {
        let Some(value) = self.one(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|error: T::Err| {
            let error = error.to_string();
            let why = match error.as_str() {
                "invalid digit found in string" => "it has to be a whole number from 0 on",
                "number too large to fit in target type" => "the number is too large",
                other => other,
            };
            Problem::bad_request(format!("query parameter {name} is {value:?}: {why}"))
        })
    }

    /// A number of something that is counted from 1 on, such as the lines of a journal.
    pub(crate) fn read_from_one(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.one(name) else { return Ok(None) };
        match value.parse::<u64>() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => {
                let shown: String = value.chars().take(50).collect();
                Err(Problem::bad_request(format!(
                    "query parameter {name} is {shown:?}: it has to be a whole number from 1 on"
                )))
            }
        }
    }

    /// Whether the value is `true` or `false`, in any case: clients of .NET write `True`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.one(name) else { return Ok(None) };
        match value.to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(Problem::bad_request(format!(
                "query parameter {name} is {value:?}: use true or false"
            ))),
        }
    }

    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

/// The preferences of the client (RFC 7240).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefer {
    /// Answer as soon as the change is accepted.
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

    /// The longest wait for an outcome.
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
        assert!(params.only(&["page", "ids", "empty"]).is_ok());
        let problem = params.only(&["page", "empty"]).unwrap_err();
        assert!(problem.detail().contains("no query parameter \"ids\" here: use page, empty"));
        assert!(params.only(&[]).unwrap_err().detail().ends_with("here: use none"));
        let flags = Params(vec![("IsSystem".to_owned(), "False".to_owned())]);
        assert_eq!(flags.flag("isSystem").unwrap(), Some(false));
        assert_eq!(flags.flag("publish").unwrap(), None);
        assert!(params.flag("page").unwrap_err().detail().contains("use true or false"));
        let problem = params.read::<u64>("ids").unwrap_err();
        let expected = "query parameter ids is \"a,b\": it has to be a whole number from 0 on";
        assert_eq!(problem.detail(), expected);
    }

    #[test]
    fn two_values_where_one_is_meant_are_refused() {
        let pairs = [("type", "a,b"), ("TYPE", "a,b"), ("type", ""), ("page", "1"), ("Page", "2")];
        let params = Params(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec());
        assert!(params.single(&["type", "version"]).is_ok());
        let problem = params.single(&["type", "page"]).unwrap_err();
        let expected = "query parameter page is there with several values, \"1\" and \"2\": send one \
                        request for each";
        assert_eq!(problem.detail(), expected);
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
