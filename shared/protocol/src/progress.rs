//! What workers say of the tasks that they work at.

use model::InstanceId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::subject::{TASK_PROGRESS, token};

/// `staunch.task-progress.<type>.<version>.<taskId>`: how far a worker is with an attempt. It reaches
/// those who listen at that moment; no stream stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// The id of the task: the same in every attempt.
    pub task_id: String,
    /// The type of the task.
    pub task_type: String,
    /// The version of the type: 1, 2, 3 …
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub task_version: u32,
    /// The instance that waits for the result.
    pub workflow_instance_id: InstanceId,
    /// The number of the attempt: 1, 2, 3 …
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub attempt: u32,
    /// What the worker says: JSON of at most 64 KiB.
    pub progress: Value,
}

impl TaskProgress {
    /// The largest progress, as JSON.
    pub const BYTES_MAX: usize = 64 * 1024;

    /// The subject of the progress of this task. Nobody who may send on another one may send it.
    #[must_use]
    pub fn subject(task_type: &str, version: u32, task_id: &str) -> String {
        format!("{TASK_PROGRESS}.{}.{version}.{}", token(task_type), token(task_id))
    }

    /// The progress of all tasks of this type and version, or of all tasks, for subscribers.
    #[must_use]
    pub fn subjects(kind: Option<(&str, u32)>) -> String {
        match kind {
            Some((task_type, version)) => {
                format!("{TASK_PROGRESS}.{}.{version}.*", token(task_type))
            }
            None => format!("{TASK_PROGRESS}.*.*.*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn progress_is_on_the_subject_of_its_task() {
        let body = json!({
            "taskId": "a.b", "taskType": "Ship It", "taskVersion": 2, "workflowInstanceId": "i",
            "attempt": 3, "progress": null,
        });
        let said: TaskProgress = serde_json::from_value(body.clone()).unwrap();
        let own = TaskProgress::subject(&said.task_type, said.task_version, &said.task_id);
        assert_eq!(own, "staunch.task-progress.Ship=20It.2.a=2Eb");
        assert_eq!(serde_json::to_value(&said).unwrap(), body);
        let of_type = TaskProgress::subjects(Some(("Ship It", 2)));
        assert_eq!(of_type, "staunch.task-progress.Ship=20It.2.*");
        assert_eq!(TaskProgress::subjects(None), "staunch.task-progress.*.*.*");
    }
}
