//! The limits of an endpoint: its callers, their bodies and files, the time of their wait.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use model::endpoint;
use serde_json::Value;

use crate::Problem;
use crate::auth::caller::Caller;

use super::arrival::{Arrived, Reading};
use super::upload::{Refusal, Uploads};

/// The limits of one endpoint, from the payload of its trigger or bookmark.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
    authorize: bool,
    policy: Option<String>,
    /// The longest wait of the caller; the server's own limit if none is given.
    pub(super) answer_time: Option<Duration>,
    bytes_max: Option<usize>,
    /// The files that it takes.
    pub(super) uploads: Uploads,
    /// The outcomes for which the workflow goes on.
    exposed: Vec<String>,
    /// XML is read as a value.
    pub(super) reads_xml: bool,
}

/// The body of a request, or the reason why the workflow goes on without it.
pub(super) type Received = Result<Arrived, Refusal>;

impl Limits {
    pub(super) fn of(payload: &Value) -> Self {
        let text = |name: &str| payload.get(name).and_then(Value::as_str);
        let number = payload.get("requestSizeLimit").and_then(Value::as_u64);
        let flag = |name: &str| payload.get(name).and_then(Value::as_bool).unwrap_or(false);
        Self {
            authorize: flag("authorize"),
            policy: text("policy").filter(|policy| !policy.trim().is_empty()).map(str::to_owned),
            answer_time: text("requestTimeout").and_then(span).filter(|span| !span.is_zero()),
            bytes_max: number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)),
            uploads: Uploads::of(payload),
            exposed: super::upload::texts(payload, endpoint::EXPOSED),
            reads_xml: flag(endpoint::READS_XML),
        }
    }

    /// Refuses a caller without the permission.
    pub(super) fn admit(&self, caller: &Caller) -> Result<(), Problem> {
        if !self.authorize {
            return Ok(());
        }
        if caller.is_nobody() {
            return Err(Problem::unauthorized(
                "this workflow is for known callers: send Authorization: ApiKey <key>, or Bearer \
                 <token> after a login",
            ));
        }
        self.policy.as_deref().map_or(Ok(()), |policy| caller.must(policy))
    }

    /// Reads the body, within the endpoint's limit and the server's.
    pub(super) async fn body(
        &self,
        headers: &HeaderMap,
        body: Body,
        reading: Reading<'_>,
    ) -> Result<Received, Problem> {
        let limit = self.bytes_max.unwrap_or(reading.body_max).min(reading.body_max);
        let reading = Reading { body_max: limit, ..reading };
        match reading.read(headers, body).await {
            Ok(arrived) => Ok(Ok(arrived)),
            Err(problem) if problem.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                let is_of_endpoint = self.bytes_max == Some(limit);
                let problem = match problem.is("too-large") {
                    true => Problem::request_too_large(limit, is_of_endpoint),
                    false => problem,
                };
                self.exposed_or_refused(Refusal::too_large(limit), || problem).map(Err)
            }
            Err(problem) => Err(problem),
        }
    }

    /// The refusal, if the workflow goes on with its outcome; else the problem.
    pub(super) fn exposed_or_refused(
        &self,
        refusal: Refusal,
        problem: impl FnOnce() -> Problem,
    ) -> Result<Refusal, Problem> {
        let is_exposed = self.exposed.iter().any(|outcome| outcome == refusal.outcome);
        if is_exposed { Ok(refusal) } else { Err(problem()) }
    }
}

/// Reads `[d.]hh:mm:ss[.fffffff]`.
fn span(text: &str) -> Option<Duration> {
    let mut parts = text.trim().rsplitn(3, ':');
    let seconds: f64 = parts.next()?.parse().ok()?;
    let minutes: u64 = parts.next()?.parse().ok()?;
    let (days, hours) = match parts.next()?.split_once('.') {
        Some((days, hours)) => (days.parse().ok()?, hours.parse().ok()?),
        None => (0_u64, text.split(':').next()?.parse::<u64>().ok()?),
    };
    let whole = days.checked_mul(86_400)?.checked_add(hours.checked_mul(3_600)?)?;
    let whole = whole.checked_add(minutes.checked_mul(60)?)?;
    let seconds = Duration::try_from_secs_f64(seconds).ok()?;
    Duration::from_secs(whole).checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_read_from_the_payload() {
        let payload = json!({"Path": "/x", "authorize": true, "policy": "orders:write",
            "requestTimeout": "00:00:02.5", "requestSizeLimit": 10});
        let expected = Limits {
            authorize: true,
            policy: Some("orders:write".to_owned()),
            answer_time: Some(Duration::from_millis(2_500)),
            bytes_max: Some(10),
            ..Limits::default()
        };
        assert_eq!(Limits::of(&payload), expected);
        let nothing = json!({"policy": null, "requestTimeout": null, "requestSizeLimit": null});
        assert_eq!(Limits::of(&nothing), Limits::default());
    }

    #[test]
    fn spans_are_read_as_dotnet_writes_them() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(span(text), expected.map(Duration::from_secs), "{text}");
        };
        check("00:00:30", Some(30));
        check("1.02:03:04", Some(93_784));
        check("30", None);
        check("-00:00:01", None);
        check("x", None);
    }
}
