//! The journal of an instance as it grows, read over HTTP.

use std::time::Duration;

use model::{InstanceId, SubStatus};
use serde_json::Value;

use crate::client::Client;
use crate::{Failure, output, say};

/// The time between two requests while an instance has no new entries.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The number of entries of one request.
const ENTRIES_MAX: usize = 500;

/// Reads the journal of one instance from its beginning, each entry once.
#[derive(Debug)]
pub(crate) struct Journal<'a> {
    client: &'a Client,
    id: &'a InstanceId,
    read: usize,
}

impl<'a> Journal<'a> {
    pub(crate) fn of(client: &'a Client, id: &'a InstanceId) -> Self {
        Self { client, id, read: 0 }
    }

    /// The entries that are new since the last call.
    ///
    /// # Errors
    /// The server's refusal.
    pub(crate) async fn news(&mut self) -> Result<Vec<Value>, Failure> {
        let Self { client, id, read } = self;
        let path = format!("/workflow-instances/{id}/journal?skip={read}&take={ENTRIES_MAX}");
        let body = client.get(&path).await?;
        let items = body.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        *read += items.len();
        Ok(items)
    }

    /// Passes every entry to `each` as it appears, until the instance has ended or `enough` accepts
    /// its status; returns the status.
    ///
    /// # Errors
    /// The server's refusal, or an error of `each`.
    pub(crate) async fn follow(
        &mut self,
        mut each: impl FnMut(&Value) -> Result<(), Failure>,
        enough: impl Fn(SubStatus) -> bool,
    ) -> Result<SubStatus, Failure> {
        loop {
            // First the status, then the journal: when the status is final, the journal is complete.
            let status = status(self.client, self.id).await?;
            let news = self.news().await?;
            news.iter().try_for_each(&mut each)?;
            if !news.is_empty() {
                continue;
            }
            if status.is_final() || enough(status) {
                return Ok(status);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// The status of an instance.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn status(client: &Client, id: &InstanceId) -> Result<SubStatus, Failure> {
    let path = format!("/workflow-instances/{id}/execution-state");
    let body = client.get(&path).await?;
    output::text(&body, "subStatus").parse().map_err(Failure::failed)
}

/// One entry on one line: time, event, activity. A message may have several lines.
pub(crate) fn line(entry: &Value) -> String {
    let text = |name| say::one_line(&output::text(entry, name)).into_owned();
    let stamp = text("timestamp");
    let time = stamp.get(11..23).unwrap_or(&stamp);
    let activity_type = text("activityType");
    let short_type = activity_type.strip_prefix("Elsa.").unwrap_or(&activity_type);
    let name = match text("activityName") {
        name if name.is_empty() => text("activityId"),
        name => name,
    };
    let place = format!("{name} ({short_type})");
    match (text("eventName").as_str(), text("message").as_str()) {
        ("Line", message) => format!("{time}  {:<10} {message}", "says"),
        ("Workflow", message) => format!("{time}  {:<10} {message}", "workflow"),
        ("Altered", message) => format!("{time}  {:<10} {message}", "altered"),
        (what, "") => format!("{time}  {:<10} {place}", what.to_lowercase()),
        (what, message) => format!("{time}  {:<10} {place}: {message}", what.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_one_line() {
        let check = |entry: Value, expected: &str| assert_eq!(line(&entry), expected);
        let time = "2026-01-31T08:00:01.250Z";
        check(
            json!({"timestamp": time, "eventName": "Completed", "activityName": "Ask",
                   "activityType": "Elsa.Event", "message": null}),
            "08:00:01.250  completed  Ask (Event)",
        );
        check(
            json!({"timestamp": time, "eventName": "Line", "message": "hello\n\u{1b}[2J"}),
            "08:00:01.250  says       hello\\n\\u{1b}[2J",
        );
        check(
            json!({"timestamp": time, "eventName": "Workflow", "message": "Suspended"}),
            "08:00:01.250  workflow   Suspended",
        );
    }
}
