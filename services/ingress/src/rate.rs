//! Limits the rate of requests: from one address, with one credential, and of starts of one
//! definition.
//!
//! Each is a token bucket of this process (the generic cell rate algorithm): `100/1s` lets 100
//! requests through at once, and gives one back every 10 ms. Answers say where the caller stands
//! (`RateLimit-Policy`, `RateLimit`: draft-ietf-httpapi-ratelimit-headers-10); a refusal says when
//! to try again. The number of counts is bounded: see [`cells`].

mod cells;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use chassis::Rate;
use chassis::http::Peer;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::{Quota, RateLimiter};
use model::{DefinitionId, limits};

use crate::auth::caller::Caller;
use crate::metrics::Metrics;
use crate::{Config, Problem};
use cells::Cells;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The limits of one ingress.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    address: Option<Limit>,
    credential: Option<Limit>,
    definition: Option<Limit>,
}

impl Rates {
    pub(crate) fn new(config: &Config) -> Self {
        let limit = |name, rate: Option<Rate>| rate.map(|rate| Limit::new(name, rate));
        Self {
            address: limit("address", config.limit_address),
            credential: limit("credential", config.limit_credential),
            definition: limit("definition", config.limit_definition),
        }
    }

    /// Counts a request from its address. One without an address comes from this process, and is
    /// not counted.
    pub(crate) fn of_address(&self, request: &Request) -> Result<Option<Standing>, Problem> {
        let peer = request.extensions().get::<Peer>();
        let Some((limit, Peer(peer))) = self.address.as_ref().zip(peer) else { return Ok(None) };
        let whose = || format!("from {}", peer.ip().to_canonical());
        limit.count(&network(peer.ip()), whose).map(Some)
    }

    /// Counts a request of this caller. One without a credential is counted by its address alone.
    pub(crate) fn of_caller(&self, caller: &Caller) -> Result<Option<Standing>, Problem> {
        match &self.credential {
            Some(limit) if !caller.is_nobody() => {
                limit.count(&caller.who, || format!("of the caller {}", caller.who)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Counts a start of this definition.
    pub(crate) fn of_definition(&self, id: &DefinitionId) -> Result<(), Problem> {
        self.of_definition_together(id, NonZeroU32::MIN)
    }

    /// Counts so many starts of this definition: all of them, or none.
    ///
    /// # Errors
    /// 400 when there can never be so many at once, 429 when there cannot be now.
    pub(crate) fn of_definition_together(
        &self,
        id: &DefinitionId,
        starts: NonZeroU32,
    ) -> Result<(), Problem> {
        let Some(limit) = &self.definition else { return Ok(()) };
        let max = limit.rate.count;
        if starts > max {
            Metrics.refused();
            let detail = format!(
                "count is {starts}, and the limit of starts of one workflow definition here is {}: send \
                 at most {max} at once, or let the operator raise limit-definition",
                limit.rate
            );
            return Err(Problem::bad_request(detail).with("limit", limit.name));
        }
        let whose = || format!("to start the workflow definition {:?}", id.as_str());
        limit.count_together(id.as_str(), starts, whose).map(drop)
    }
}

/// The network that one person controls: an IPv4 address, or the first 64 bits of an IPv6 address.
pub(crate) fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// One limit, for each of its keys.
#[derive(Debug)]
struct Limit {
    name: &'static str,
    rate: Rate,
    /// The time in which one request becomes free again.
    pace: Duration,
    limiter: RateLimiter<String, Cells, Ticks, StateInformationMiddleware>,
}

impl Limit {
    fn new(name: &'static str, rate: Rate) -> Self {
        let pace = (rate.time / rate.count.get()).max(Duration::from_nanos(1));
        // Only a time of 0 would make no quota, and there is none.
        let quota = Quota::with_period(pace).unwrap_or_else(|| Quota::per_second(rate.count));
        let cells = Cells::new(limits::LIMITED_KEYS_MAX, rate.time);
        let limiter = RateLimiter::new(quota.allow_burst(rate.count), cells, Ticks);
        Self { name, rate, pace, limiter }
    }

    fn count(&self, key: &str, whose: impl FnOnce() -> String) -> Result<Standing, Problem> {
        self.count_together(key, NonZeroU32::MIN, whose)
    }

    fn count_together(
        &self,
        key: &str,
        count: NonZeroU32,
        whose: impl FnOnce() -> String,
    ) -> Result<Standing, Problem> {
        let standing = |left, wait| Standing { name: self.name, rate: self.rate, left, wait };
        // More than there are at all wait for all of them.
        let checked = self.limiter.check_key_n(&key.to_owned(), count);
        let Ok(checked) = checked else {
            return Err(refused(&standing(0, self.rate.time), &whose()));
        };
        match checked {
            Ok(state) => {
                let left = state.remaining_burst_capacity();
                let taken = self.rate.count.get().saturating_sub(left);
                Ok(standing(left, self.pace.saturating_mul(taken)))
            }
            Err(until) => {
                let wait = until.wait_time_from(Ticks.now());
                Metrics.refused();
                Err(refused(&standing(0, wait), &whose()))
            }
        }
    }
}

/// Where a caller stands after a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    name: &'static str,
    rate: Rate,
    /// The requests that may follow at once.
    left: u32,
    /// The time until all of them are free again; after a refusal, until one is.
    wait: Duration,
}

impl Standing {
    /// Adds what the caller has left to the headers of an answer.
    pub(crate) fn show(&self, headers: &mut HeaderMap) {
        for (name, text) in [(POLICY, self.policy()), (LIMIT, self.limit())] {
            if let Ok(value) = HeaderValue::from_str(&text) {
                headers.append(name, value);
            }
        }
    }

    fn policy(&self) -> String {
        format!("\"{}\";q={};w={}", self.name, self.rate.count, seconds(self.rate.time))
    }

    fn limit(&self) -> String {
        format!("\"{}\";r={};t={}", self.name, self.left, seconds(self.wait))
    }
}

fn refused(standing: &Standing, whose: &str) -> Problem {
    let wait = seconds(standing.wait).max(1);
    let detail = format!(
        "there are too many requests {whose}: at most {} are answered here; try again in {wait} s",
        standing.rate
    );
    let mut problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited", detail)
        .header(RETRY_AFTER, HeaderValue::from(wait))
        .with("limit", standing.name);
    for (name, text) in [(POLICY, standing.policy()), (LIMIT, standing.limit())] {
        if let Ok(value) = HeaderValue::from_str(&text) {
            problem = problem.header(name, value);
        }
    }
    problem
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The clock of the runtime, which tests can stop.
#[derive(Clone, Copy, Debug)]
struct Ticks;

impl Clock for Ticks {
    type Instant = std::time::Instant;

    fn now(&self) -> Self::Instant {
        tokio::time::Instant::now().into_std()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(count: u32, time: Duration) -> Limit {
        Limit::new("address", Rate { count: count.try_into().unwrap(), time })
    }

    fn waits(limit: &Limit, key: &str) -> Option<String> {
        let problem = limit.count(key, || "of a test".to_owned()).err()?;
        let answer = problem.respond(None);
        Some(answer.headers()[RETRY_AFTER].to_str().unwrap().to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_let_through_and_then_a_steady_rate() {
        let limit = limit(3, Duration::from_secs(6));
        let mut standings = Vec::new();
        for _ in 0..3 {
            let standing = limit.count("a", String::new).unwrap();
            standings.push((standing.policy(), standing.limit()));
        }
        let policy = || "\"address\";q=3;w=6".to_owned();
        let expected = [(2, 2), (1, 4), (0, 6)]
            .map(|(left, wait)| (policy(), format!("\"address\";r={left};t={wait}")));
        assert_eq!(standings, expected);
        assert_eq!(waits(&limit, "a").as_deref(), Some("2"));
        assert_eq!(waits(&limit, "b"), None, "another key has its own count");
        tokio::time::advance(Duration::from_millis(1_999)).await;
        assert_eq!(waits(&limit, "a").as_deref(), Some("1"));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(waits(&limit, "a"), None);
        assert_eq!(waits(&limit, "a").as_deref(), Some("2"), "a refusal costs nothing");
        tokio::time::advance(Duration::from_secs(60)).await;
        for _ in 0..3 {
            assert_eq!(waits(&limit, "a"), None);
        }
        assert_eq!(waits(&limit, "a").as_deref(), Some("2"), "no more than a burst is saved up");
    }

    #[test]
    fn an_address_stands_for_its_network() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("::ffff:10.1.2.3"), "10.1.2.3");
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
    }
}
