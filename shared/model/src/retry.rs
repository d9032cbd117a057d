//! The retries of a call to something outside: how often it is made again, after which pauses, and
//! after which failures.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Map, limits, span};

/// The failures after which a call is made again, if nothing else is said: those that pass.
const PASSING: [On; 9] = [
    On::Timeout,
    On::Connect,
    On::Status(408),
    On::Status(409),
    On::Status(429),
    On::Status(500),
    On::Status(502),
    On::Status(503),
    On::Status(504),
];

/// Retries by name, as a configuration has them.
pub type Retries = BTreeMap<String, Retry>;

/// The retries of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// How often the call is made, the first time included.
    pub attempts: u32,
    /// How the pauses grow.
    pub backoff: Growth,
    /// The first pause.
    pub delay: Duration,
    /// The longest pause.
    pub max_delay: Duration,
    /// A pause is between one half and the whole of what it would be, at random.
    pub jitter: bool,
    /// The failures after which the call is made again.
    pub on: Vec<On>,
}

/// How the pauses between the attempts of a call grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Growth {
    /// Every pause is as long as the first.
    Constant,
    /// The second pause is twice the first, the third three times.
    Linear,
    /// Every pause is twice the one before.
    Exponential,
}

/// A failure after which a call is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum On {
    /// There was no answer in time.
    Timeout,
    /// The other side could not be reached, or the connection broke.
    Connect,
    /// An answer with this status code, or of this class: 5 stands for 500 to 599.
    Status(u16),
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 4,
            backoff: Growth::Exponential,
            delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(60 * 60),
            jitter: false,
            on: PASSING.to_vec(),
        }
    }
}

impl Retry {
    /// The retries of requests to workers that say nothing of it: four attempts where the worker does not
    /// answer in time or reports a fault of its own (5xx). That nobody listens is a failure at once.
    #[must_use]
    pub fn of_requests() -> Self {
        Self { on: vec![On::Timeout, On::Status(5)], ..Self::default() }
    }

    /// Reads `{"attempts": 5, "backoff": "exponential", "delay": "1s", "maxDelay": "1m",
    /// "jitter": true, "on": ["timeout", "connect", 429, "5xx"]}`, or Elsa's
    /// `{"maxRetryAttempts": 3, "backoffType": "Exponential", "delay": "00:00:01",
    /// "useJitter": true}`. Every member may be left out.
    ///
    /// # Errors
    /// The members that are wrong, each with its correction.
    pub fn read(value: &Value) -> Result<Self, String> {
        let Value::Object(members) = value else {
            return Err(format!("{value} is not an object with members such as attempts"));
        };
        let mut retry = Self::default();
        let mut flaws = Vec::new();
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            if let Err(reason) = retry.member(name, value) {
                flaws.push(format!("{name}: {reason}"));
            }
        }
        if flaws.is_empty() && retry.max_delay < retry.delay {
            flaws.push("maxDelay: it is shorter than the first delay".to_owned());
        }
        if flaws.is_empty() { Ok(retry) } else { Err(flaws.join("; ")) }
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let max = limits::CALL_ATTEMPTS_MAX;
        let count = |least: u32| {
            let number = crate::whole::number::<_, u32>(value).ok();
            let number = number.filter(|number| (least..=max).contains(number));
            number.ok_or_else(|| format!("{value} is not a whole number from {least} to {max}"))
        };
        match name {
            "attempts" => self.attempts = count(1)?,
            "maxRetryAttempts" => self.attempts = (count(0)? + 1).min(max),
            "backoff" | "backoffType" => self.backoff = growth(value)?,
            "delay" => self.delay = pause(value)?,
            "maxDelay" => self.max_delay = pause(value)?,
            "jitter" | "useJitter" => {
                self.jitter = value.as_bool().ok_or("write true or false")?;
            }
            "on" => {
                let items = value.as_array().ok_or("write a list")?;
                let (known, flaws): (Vec<_>, Vec<_>) =
                    items.iter().map(on).partition(Result::is_ok);
                self.on = known.into_iter().flatten().collect();
                let flaws: Vec<_> = flaws.into_iter().filter_map(Result::err).collect();
                if !flaws.is_empty() {
                    return Err(flaws.join("; "));
                }
            }
            // Elsa's strategies have these as well.
            "$type" | "id" | "displayName" => {}
            _ => {
                let known = "attempts, backoff, delay, maxDelay, jitter, on";
                return Err(format!("there is no such member: use {known}"));
            }
        }
        Ok(())
    }

    /// The reason to make the call again after this result of a call; none when it is final.
    #[must_use]
    pub fn reason(&self, result: &Map) -> Option<String> {
        let text = |member: &str| result.get(member).and_then(Value::as_str);
        if let Some(kind) = text("error") {
            let on = match kind {
                "timeout" => On::Timeout,
                "connect" => On::Connect,
                _ => return None,
            };
            let said = text("message").unwrap_or(kind);
            let theirs = text("code").map(|code| format!("{code}: ")).unwrap_or_default();
            return self.on.contains(&on).then(|| format!("{theirs}{said}"));
        }
        let code = result.get("statusCode").and_then(Value::as_u64)?;
        let code = u16::try_from(code).ok()?;
        let fits = self.on.contains(&On::Status(code)) || self.on.contains(&On::Status(code / 100));
        let said = text("message").filter(|said| !said.is_empty());
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        fits.then(|| format!("the answer has the status code {code}{said}"))
    }

    /// The pause after this attempt (1, 2, 3 …). `chance` is a random number from 0 to 1; `asked` is
    /// the pause that the other side asks for.
    #[must_use]
    pub fn pause(&self, attempt: u32, chance: f64, asked: Option<Duration>) -> Duration {
        let grown = match self.backoff {
            Growth::Constant => self.delay,
            Growth::Linear => self.delay.saturating_mul(attempt),
            Growth::Exponential => {
                let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
                self.delay.saturating_mul(doubled)
            }
        };
        let grown = grown.min(self.max_delay);
        let part = if self.jitter { 0.5 + chance.clamp(0.0, 1.0) / 2.0 } else { 1.0 };
        grown.mul_f64(part).max(asked.unwrap_or_default()).min(self.max_delay)
    }
}

fn growth(value: &Value) -> Result<Growth, String> {
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    match text.as_str() {
        "constant" => Ok(Growth::Constant),
        "linear" => Ok(Growth::Linear),
        "exponential" => Ok(Growth::Exponential),
        _ => Err(format!("{value} is not constant, linear or exponential")),
    }
}

fn pause(value: &Value) -> Result<Duration, String> {
    let max = limits::CALL_PAUSE_MAX;
    let Some(text) = value.as_str() else {
        return Err(format!("{value} is not a duration: write 00:00:05, PT5S or 5s"));
    };
    let pause = span::parse(text)?;
    if pause > max { Err(format!("it is longer than {}", span::text(max))) } else { Ok(pause) }
}

fn on(value: &Value) -> Result<On, String> {
    let code = |code: u64| u16::try_from(code).ok().filter(|code| (100..=599).contains(code));
    let found = match value {
        Value::Number(number) => number.as_u64().and_then(code).map(On::Status),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "timeout" => Some(On::Timeout),
            "connect" => Some(On::Connect),
            "4xx" => Some(On::Status(4)),
            "5xx" => Some(On::Status(5)),
            text => text.parse().ok().and_then(code).map(On::Status),
        },
        _ => None,
    };
    found.ok_or_else(|| {
        format!("{value} is not timeout, connect, a status code, \"4xx\" or \"5xx\"")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Retry {
        Retry::read(&value).unwrap()
    }

    #[test]
    fn both_notations_are_read() {
        let short = read(json!({"attempts": 3, "backoff": "linear", "delay": "5s",
            "maxDelay": "1m", "jitter": true, "on": ["timeout", 429, "5xx", "404"]}));
        assert_eq!((short.attempts, short.backoff), (3, Growth::Linear));
        assert_eq!(short.max_delay, Duration::from_secs(60));
        let on = [On::Timeout, On::Status(429), On::Status(5), On::Status(404)];
        assert_eq!(short.on, on);
        let elsa = read(json!({"$type": "HttpResilienceStrategy", "id": "x", "displayName": "X",
            "maxRetryAttempts": 3, "useJitter": true, "delay": "00:00:02",
            "backoffType": "Constant"}));
        assert_eq!((elsa.attempts, elsa.backoff, elsa.jitter), (4, Growth::Constant, true));
        assert_eq!(read(json!({"attempts": 3.0})).attempts, 3);
        assert_eq!(read(json!({})), Retry::default());
    }

    #[test]
    fn mistakes_are_named() {
        let check = |value: Value, said: &str| {
            let reason = Retry::read(&value).unwrap_err();
            assert!(reason.contains(said), "{value}: {reason}");
        };
        check(json!("often"), "is not an object");
        check(json!({"attempts": 2.5}), "attempts: 2.5 is not a whole number from 1 to 1000");
        check(json!({"attempts": 0}), "attempts: 0 is not a whole number from 1 to 1000");
        check(json!({"maxRetryAttempts": -1}), "maxRetryAttempts: -1 is not a whole number");
        check(json!({"backoff": "quadratic"}), "not constant, linear or exponential");
        check(json!({"delay": 5}), "delay: 5 is not a duration");
        check(json!({"delay": "31.00:00:00"}), "delay: it is longer than 30.00:00:00");
        check(json!({"delay": "1m", "maxDelay": "1s"}), "shorter than the first delay");
        check(json!({"on": [600]}), "on: 600 is not timeout");
        check(json!({"tries": 5}), "tries: there is no such member");
        let all = Retry::read(&json!({"attempts": 0, "on": [600, "late"], "tries": 5}));
        let all = all.unwrap_err();
        for part in ["attempts: 0 is", "on: 600 is not", "\"late\" is not", "tries: there is no"] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn pauses_grow_to_their_limit() {
        let check = |value: Value, expected: &[u64]| {
            let retry = read(value);
            let pauses: Vec<_> =
                (1..=4).map(|attempt| retry.pause(attempt, 0.0, None).as_millis()).collect();
            let expected: Vec<_> = expected.iter().map(|millis| u128::from(*millis)).collect();
            assert_eq!(pauses, expected);
        };
        check(json!({"backoff": "constant"}), &[1_000, 1_000, 1_000, 1_000]);
        check(json!({"backoff": "linear"}), &[1_000, 2_000, 3_000, 4_000]);
        check(json!({"backoff": "exponential"}), &[1_000, 2_000, 4_000, 8_000]);
        check(json!({"maxDelay": "3s"}), &[1_000, 2_000, 3_000, 3_000]);
        check(json!({"jitter": true}), &[500, 1_000, 2_000, 4_000]);
        let retry = read(json!({"maxDelay": "1m"}));
        assert_eq!(retry.pause(900, 0.5, None), Duration::from_secs(60));
        let asked = Some(Duration::from_secs(30));
        assert_eq!(retry.pause(1, 0.0, asked), Duration::from_secs(30));
        assert_eq!(retry.pause(1, 0.0, Some(Duration::MAX)), Duration::from_secs(60));
    }

    #[test]
    fn only_some_results_are_tried_again() {
        let check = |retry: &Retry, result: Value, again: bool| {
            let Value::Object(map) = &result else { panic!("not an object") };
            assert_eq!(retry.reason(map).is_some(), again, "{result}");
        };
        let default = Retry::default();
        check(&default, json!({"statusCode": 503}), true);
        check(&default, json!({"statusCode": 200}), false);
        check(&default, json!({"statusCode": 501}), false);
        check(&default, json!({"error": "timeout", "message": "late"}), true);
        check(&default, json!({"error": "refused", "message": "no"}), false);
        let own = read(json!({"on": ["5xx", 404]}));
        check(&own, json!({"statusCode": 501}), true);
        check(&own, json!({"statusCode": 404}), true);
        check(&own, json!({"statusCode": 403}), false);
        check(&own, json!({"error": "connect"}), false);
    }

    #[test]
    fn the_reason_has_the_words_of_the_other_side() {
        let check = |result: Value, expected: &str| {
            let reason = Retry::default().reason(result.as_object().unwrap());
            assert_eq!(reason.as_deref(), Some(expected), "{result}");
        };
        check(json!({"statusCode": 503}), "the answer has the status code 503");
        let said = json!({"statusCode": 503, "message": "no stock"});
        check(said, "the answer has the status code 503: no stock");
        check(json!({"error": "connect", "message": "gone"}), "gone");
        let theirs = json!({"error": "connect", "message": "no route", "code": "no-responders"});
        check(theirs, "no-responders: no route");
        check(json!({"error": "timeout"}), "timeout");
    }
}
