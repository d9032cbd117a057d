//! `staunch worker forward`: a worker that posts tasks to a URL. The application that takes them there
//! completes each later, with `POST /elsa/api/tasks/{taskId}/complete`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chassis::{Chance as _, Clock as _, Life, Settings, SystemChance, SystemClock};
use clap::Args;
use protocol::subject;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use staunch_client::{Task, Worker};

use super::webhook::{OWN_HEADERS, Webhook};
use crate::{Failure, input};

/// The part of the time for draining in which tasks that are still in hand are given back.
const GIVE_BACK_TIME: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(crate) struct ForwardArgs {
    /// The type of the tasks; `Ship@2` is version 2
    #[arg(required = true, value_name = "TYPE", value_parser = input::task_kind)]
    types: Vec<String>,
    /// The http or https address to which each task is posted
    #[arg(long, value_name = "URL")]
    to: String,
    /// A file with headers for every request, such as `Authorization: Bearer …`: one a line
    #[arg(long, value_name = "FILE")]
    header_file: Option<PathBuf>,
    /// The number of tasks of each type that are posted at the same time
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    concurrency: u16,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Posts tasks until the process is asked to stop. Then requests in progress get time to end, and what
/// is left is given back.
///
/// # Errors
/// When the address or the file with headers is wrong, or the broker does not answer.
pub(crate) async fn forward(
    args: ForwardArgs,
    settings: &Settings,
    life: &Life,
) -> Result<(), Failure> {
    let headers = match &args.header_file {
        Some(file) => headers(&input::file(file)?, file)?,
        None => HeaderMap::new(),
    };
    let webhook = Arc::new(Webhook::new(address(&args.to)?, headers)?);
    let kinds: BTreeSet<_> = args.types.iter().map(|kind| subject::task_kind(kind)).collect();
    let bus = node::connect_worker(settings).await?;
    let drain = life.drain_time().saturating_sub(GIVE_BACK_TIME);
    let mut worker = Worker::new(bus.client(), drain);
    for kind in kinds {
        let (task_type, version) = kind.map_err(Failure::usage)?;
        let webhook = Arc::clone(&webhook);
        let post = move |task: Task<Value>| {
            let webhook = Arc::clone(&webhook);
            async move { webhook.post(&task, SystemClock.now(), SystemChance.number()).await }
        };
        worker.hand_over(task_type, version, usize::from(args.concurrency), post);
        tracing::info!(task_type, version, "tasks are posted to the webhook");
    }
    let (ending, stop) = (life.stop(), worker.stop());
    life.spawn("forward: stop", async move {
        ending.cancelled().await;
        stop.cancel();
    });
    let ended = worker.run().await;
    bus.close().await;
    ended.map_err(|error| Failure::unavailable(format!("tasks cannot be taken: {error}")))
}

/// The address of the webhook. No message repeats it: it may have a secret.
fn address(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        return Err(Failure::usage(
            "--to is no http or https address: use one such as https://app.example/webhooks",
        ));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Failure::usage(
            "--to has a login, which other users of this machine see: put the header Authorization \
             into a file, and name it with --header-file",
        ));
    }
    Ok(url)
}

/// The headers of a file, `Name: value` on each line. Empty lines, and lines that begin with `#`, have
/// none.
fn headers(text: &str, file: &Path) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| Failure::usage(format!("{}:{number}: {why}", file.display()));
        let Some((name, value)) = line.split_once(':') else {
            return Err(wrong("this is no header: write Name: value"));
        };
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok();
        let name = name.ok_or_else(|| wrong("this is no name of a header: write Name: value"))?;
        if OWN_HEADERS.contains(&name.as_str()) {
            return Err(wrong("the command sets this header itself: take the line out"));
        }
        let value = HeaderValue::from_str(value.trim()).ok();
        let mut value = value.ok_or_else(|| {
            wrong("the value has a character that no header can have: write it in ASCII")
        })?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn an_address_is_one_of_http_and_has_no_login() {
        assert!(address("https://app.example/webhooks?tenant=1").is_ok());
        for wrong in ["app.example", "ftp://app.example/", "https://me:secret@app.example/"] {
            let failure = address(wrong).unwrap_err();
            assert_eq!(failure.kind, Kind::Usage, "{wrong}");
            assert!(!failure.message.contains("secret"), "{failure}");
        }
        assert!(address("http://me@h/").unwrap_err().message.contains("--header-file"));
    }

    #[test]
    fn headers_come_from_the_lines_of_a_file() {
        let file = Path::new("headers");
        let found = headers("# ours\n\nAuthorization: Bearer a:b\nX-Key:1\nX-Key: 2\n", file);
        let found = found.unwrap();
        assert_eq!(found["authorization"], "Bearer a:b");
        assert!(found["authorization"].is_sensitive());
        assert_eq!(found.get_all("x-key").iter().collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn a_line_that_is_no_header_is_named_without_its_value() {
        for (line, why) in [
            ("secret", "no header"),
            ("a b: secret", "no name"),
            ("x: secret\u{1}", "no header can have"),
            ("Content-Type: secret", "sets this header itself"),
        ] {
            let failure = headers(&format!("X: 1\n{line}"), Path::new("headers")).unwrap_err();
            assert!(failure.message.starts_with("headers:2: "), "{failure}");
            assert!(failure.message.contains(why), "{failure}");
            assert!(!failure.message.contains("secret"), "{failure}");
        }
    }
}
