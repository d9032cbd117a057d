//! `staunch health URL`: asks a node for its health, for the health checks of containers, which
//! have no shell and no other program that could ask.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::Failure;
use crate::client::Client;
use crate::output::{self, Format};

/// Advice for a node that does not answer.
const HINT: &str = "is the node running, with this --admin-listen or --listen?";

#[derive(Args, Debug)]
pub(crate) struct HealthArgs {
    /// Address of the check, such as `http://127.0.0.1:5002/health/ready`
    url: String,
    /// The longest wait for the answer
    #[arg(
        long,
        default_value_t = 5,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=60)
    )]
    seconds: u64,
}

/// Succeeds if the node answers that it is healthy.
///
/// # Errors
/// Unavailable, with the checks that failed, or if the node does not answer in time.
pub(crate) async fn run(args: HealthArgs, format: Format) -> Result<(), Failure> {
    let client =
        Client::to(&args.url, None)?.with_patience(Duration::from_secs(args.seconds), HINT);
    let answer = client.open(&args.url).await.map_err(with_reasons)?;
    output::done(format, "healthy", &answer.body)
}

/// The same failure with one line for each check that failed.
fn with_reasons(failure: Failure) -> Failure {
    let reasons = reasons(&failure);
    if reasons.is_empty() { failure } else { failure.with(reasons) }
}

/// The checks that failed, each with its reason, as a node that is not ready answers them.
pub(super) fn reasons(failure: &Failure) -> Vec<String> {
    let checks = failure.body.as_deref().and_then(|body| body["checks"].as_array());
    let failed = |check: &Value| {
        let reason = check["reason"].as_str()?;
        Some(format!("{}: {reason}", output::text(check, "name")))
    };
    checks.into_iter().flatten().filter_map(failed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Kind;

    #[test]
    fn a_failure_names_the_checks_that_failed() {
        let mut failure = Failure::new(Kind::Unavailable, "the server answers 503".to_owned());
        failure.body = Some(Box::new(json!({"checks": [
            {"name": "database", "status": "Healthy"},
            {"name": "nats", "status": "Unhealthy", "reason": "no answer within 2 s"}
        ]})));
        let said = with_reasons(failure).to_string();
        assert!(said.contains("nats: no answer within 2 s"), "{said}");
        assert!(!said.contains("database"), "{said}");
    }
}
