//! `staunch log-level [FILTER]`: shows or changes what a running process logs, over its admin port.

use clap::Args;
use serde_json::{Value, json};

use crate::client::Client;
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
/// The refusal of the process; unavailable if it does not answer.
pub(crate) async fn run(args: LogLevelArgs, format: Format) -> Result<(), Failure> {
    let patience = std::time::Duration::from_secs(10);
    let client = Client::to(&args.admin, args.api_key.as_deref())?.with_patience(patience, HINT);
    let change = match (args.filter, args.reset) {
        (Some(filter), _) => Some(json!({ "set": filter })),
        (None, true) => Some(json!({})),
        (None, false) => None,
    };
    let state = client.admin("/log-level", change.as_ref()).await?;
    show(&state, change.is_some(), format)
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
