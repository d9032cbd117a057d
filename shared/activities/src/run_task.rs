//! RunTask: hands a task to a worker and waits until it is done.

use engine::{Activity, Decision, Descriptor, Effect, Kind, Next, Resumed, Step, Task, Type};
use model::Stimulus;
use serde_json::{Value, json};

/// `Elsa.RunTask`
pub(crate) struct RunTask;

/// The name of the input under which the result arrives.
const INPUT: &str = "RunTaskInput";

impl Activity for RunTask {
    fn descriptor(&self) -> Descriptor {
        let what = "Hands a task to a worker and waits until it is done.";
        Descriptor::new("Elsa.RunTask", "Primitives", what)
            .called("Run Task")
            .kind(Kind::Task)
            .input("taskName", Type::String, "The task's type.")
            .required()
            .input("payload", Type::Dictionary, "The worker's input.")
            .output("taskId", Type::String, "The task's id.")
            .output("result", Type::Object, "The worker's result.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let task_name = step.required("taskName")?;
        let payload = Value::Object(step.object("payload")?);
        let task_id = step.new_id();
        step.set_output("taskId", task_id.clone().into())?;
        let shown = json!({"TaskId": task_id, "TaskName": task_name});
        step.wait(&Stimulus::task(&task_id), shown, None)?;
        step.emit(Effect::Task(Task { task_id, task_name, payload }));
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let result = resumed.input.remove(INPUT).unwrap_or_default();
        step.set_output("result", result)?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    #[test]
    fn the_task_and_its_bookmark_have_the_same_id() {
        let mut player = player(json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "RunTask", "taskName": "Ship", "payload": {"order": 7},
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        }));
        player.start(json!({}));
        let Effect::Task(task) = player.effects[0].clone() else { panic!("no task") };
        assert_eq!((task.task_name.as_str(), task.payload), ("Ship", json!({"order": 7})));
        let bookmark = player.state().bookmarks.values().next().unwrap();
        assert_eq!(bookmark.hash, Stimulus::task(&task.task_id).hash());
        assert!(player.resume("Elsa.RunTask", json!({INPUT: "shipped"})));
        assert_eq!(player.state().output["Got"], json!("shipped"));
    }
}
