//! The real connectors, and which of them makes a call.

use std::time::Duration;

use async_trait::async_trait;
use engine::{Call, Operation};
use model::limits;

use crate::calls::{CallEnd, Calls, ErrorKind};
use crate::guard::Guard;
use crate::http::Http;

/// The settings of all connectors.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// HTTP calls may go to private and local addresses.
    pub allow_private_addresses: bool,
}

/// Makes calls to the world.
pub struct Connectors {
    http: Http,
}

impl Connectors {
    /// Connectors with these settings. Nothing is connected before the first call.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { http: Http::new(Guard { allow_private: config.allow_private_addresses }) }
    }
}

#[async_trait]
impl Calls for Connectors {
    async fn perform(&self, call: &Call, traceparent: Option<&str>) -> CallEnd {
        let wait = call.timeout.unwrap_or(limits::CALL_TIME_MAX).min(limits::CALL_TIME_MAX);
        let work = async {
            match &call.operation {
                Operation::Http(request) => self.http.send(request, &call.key, traceparent).await,
            }
        };
        match tokio::time::timeout(wait, work).await {
            Ok(end) => end,
            Err(_) => late(call, wait),
        }
    }
}

fn late(call: &Call, wait: Duration) -> CallEnd {
    let message = format!("no answer within {wait:?}: {}", call.operation.summary());
    CallEnd::error(ErrorKind::Timeout, message)
}
