//! The report of a worker about a task, as an instance gets it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Map;

/// The input under which the result of a task arrives.
const RESULT: &str = "RunTaskInput";
/// The input under which the rest of the report arrives, unless it says nothing but "completed".
const REPORT: &str = "RunTaskReport";

/// Refuses problem details (RFC 9457) of a failure in which a member that is read has another type: the
/// worker's reason would be lost.
///
/// # Errors
/// The member, and what it has to be.
pub fn check_error(error: &Map) -> Result<(), String> {
    for (name, value) in error.iter().filter(|(_, value)| !value.is_null()) {
        let (is_fit, expected) = match name.as_str() {
            "type" | "title" | "detail" => (value.is_string(), "a text"),
            "status" => (value.is_number(), "a number, such as 503"),
            _ => continue,
        };
        if !is_fit {
            let shown: String = value.to_string().chars().take(50).collect();
            return Err(format!("error.{name} is {shown}: write {expected}"));
        }
    }
    Ok(())
}

/// How a worker ended an attempt of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// It is done, and has a result.
    #[default]
    Completed,
    /// It failed; another attempt may succeed.
    Failed,
    /// The worker has given it up: there is no other attempt.
    Cancelled,
}

/// The report of a worker, without the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskReport {
    /// How the attempt ended.
    pub status: TaskStatus,
    /// The attempt that it is about; the current one when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The type that the worker may work on; any when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The version of that type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_version: Option<u32>,
    /// The outcome by which the activity ends; its type has to have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Problem details (RFC 9457) of a failure: `type`, `title`, `detail`, `status`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub error: Map,
    /// Whether another attempt may succeed; yes when it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// The least number of seconds before the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

impl TaskReport {
    /// The input of the instance that waits for the task.
    #[must_use]
    pub fn into_input(self, result: Value) -> Map {
        let mut input = Map::from_iter([(RESULT.to_owned(), result)]);
        if self != Self::default() {
            // A report has no value that JSON does not have.
            let report = serde_json::to_value(self).unwrap_or_default();
            input.insert(REPORT.to_owned(), report);
        }
        input
    }

    /// The report in such an input. Without one, the task is completed.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn of_input(input: &Map) -> Result<Self, String> {
        match input.get(REPORT) {
            None => Ok(Self::default()),
            Some(report) => Self::deserialize(report).map_err(|error| format!("{REPORT}: {error}")),
        }
    }

    /// The result in such an input.
    #[must_use]
    pub fn result_of(input: &mut Map) -> Value {
        input.remove(RESULT).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_survives_the_input() {
        let failed = TaskReport {
            status: TaskStatus::Failed,
            attempt: Some(2),
            task_type: Some("Ship".to_owned()),
            task_version: Some(1),
            outcome: None,
            error: Map::from_iter([("title".to_owned(), json!("no stock"))]),
            retryable: Some(true),
            retry_after: Some(5),
        };
        for report in [failed, TaskReport::default()] {
            let mut input = report.clone().into_input(json!({"a": 1}));
            assert_eq!(TaskReport::of_input(&input), Ok(report));
            assert_eq!(TaskReport::result_of(&mut input), json!({"a": 1}));
        }
    }

    #[test]
    fn a_result_alone_is_all_that_a_completed_task_needs() {
        let input = TaskReport::default().into_input(json!("x"));
        assert_eq!(Value::Object(input), json!({"RunTaskInput": "x"}));
        let wrong = json!({"RunTaskReport": {"status": "lost"}});
        assert!(TaskReport::of_input(wrong.as_object().unwrap()).is_err());
    }
}
