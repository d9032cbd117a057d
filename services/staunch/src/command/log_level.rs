//! `staunch log-level [FILTER]`: shows or changes what a running process logs, over its admin port.

use clap::Args;
use serde_json::{Value, json};

use crate::client::{self, Client};
use crate::failure::Kind;
use crate::output::{self, Format, text};
use crate::{Failure, say};

/// Advice for a process that does not answer.
const HINT: &str = "start it with --admin-listen, and name that address with --admin";

#[derive(Args, Debug)]
pub(crate) struct LogLevelArgs {
    /// What to log from now on: a level, or MODULE=LEVEL, several with commas between them; shows
    /// the filter in force without it
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
    /// Goes back to the filter of the settings
    #[arg(long, conflicts_with = "filter")]
    reset: bool,
    /// The process: the address of its --admin-listen
    #[arg(long, env = "STAUNCH_ADMIN", value_name = "URL")]
    admin: String,
    /// API key, if the address is not of this machine alone
    #[arg(long, env = "STAUNCH_API_KEY", hide_env_values = true, value_name = "KEY")]
    api_key: Option<String>,
}

/// Shows or changes the filter. A restart brings back the filter of the settings.
///
/// # Errors
/// A usage error for what is no filter; the refusal of the process; unavailable if it does not answer.
pub(crate) async fn run(args: LogLevelArgs, format: Format) -> Result<(), Failure> {
    if let Some(filter) = &args.filter {
        chassis::check_log_filter(filter).map_err(Failure::usage)?;
    }
    let patience = std::time::Duration::from_secs(10);
    let key = client::key(args.api_key.as_deref())?;
    let client = Client::to(&args.admin, key.as_deref())?.with_patience(patience, HINT);
    let change = match (args.filter, args.reset) {
        (Some(filter), _) => Some(json!({ "set": filter })),
        (None, true) => Some(json!({})),
        (None, false) => None,
    };
    let state = client.admin("/log-level", change.as_ref()).await;
    let state = state.map_err(|failure| elsewhere(failure, client.server()))?;
    show(&state, change.is_some(), format)
}

/// The advice for a server that does not know this path: the API has other ones.
fn elsewhere(failure: Failure, server: &str) -> Failure {
    match failure.kind {
        Kind::NotFound => Failure::new(
            Kind::NotFound,
            format!(
                "{server} has no /log-level: this may be the address of the API, and --admin needs \
                 that of --admin-listen"
            ),
        ),
        _ => failure,
    }
}

fn show(state: &Value, is_changed: bool, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(state);
    }
    say::data(&text(state, "filter"))?;
    if is_changed {
        let configured = text(state, "configured");
        say::message(&format!("until it restarts; its settings say {configured}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(filter: &str, admin: &str) -> LogLevelArgs {
        let (filter, admin) = (Some(filter.to_owned()), admin.to_owned());
        LogLevelArgs { filter, reset: false, admin, api_key: None }
    }

    #[tokio::test]
    async fn what_is_no_filter_is_wrong_usage_and_nobody_is_asked() {
        for filter in ["executor=bogus", "", "loud", "executr=debug"] {
            let refused = run(args(filter, "http://127.0.0.1:9"), Format::Table).await.unwrap_err();
            assert_eq!(refused.kind, Kind::Usage, "{refused}");
        }
    }

    #[test]
    fn the_port_of_the_api_is_recognised() {
        let failure = Failure::new(Kind::NotFound, "there is nothing at /log-level");
        let failure = elsewhere(failure, "http://127.0.0.1:5001");
        assert_eq!(failure.kind, Kind::NotFound);
        assert!(failure.message.contains("that of --admin-listen"), "{failure}");
        let other = elsewhere(Failure::unavailable("gone"), "http://127.0.0.1:5001");
        assert_eq!(other.message, "gone");
    }
}
