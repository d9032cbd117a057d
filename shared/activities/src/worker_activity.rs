//! An activity of a type that workers have registered.

use engine::{Activity, Decision, Descriptor, Failure, Kind, NatsCall, Next, Resumed, Step};
use model::activity_type::Mode;
use serde_json::Value;

use crate::nats;
use crate::run_task::{hand_over, report_of};

/// The activity of every type that workers perform: hands out a task, or asks a responder.
pub(crate) struct WorkerActivity;

impl Activity for WorkerActivity {
    fn descriptor(&self) -> Descriptor {
        let what = "Has its work done by a worker, which has registered the type.";
        Descriptor::new("Staunch.WorkerActivity", "Workers", what).kind(Kind::Task).calls()
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let (kind, timeout) = step.type_of_worker()?;
        let input = step.input_of_worker()?;
        match kind.mode {
            Mode::Task => {
                hand_over(step, kind.type_name.clone(), kind.version, input, timeout)?;
            }
            Mode::Request => {
                let (task_type, version) = (kind.type_name.clone(), kind.version);
                step.call(NatsCall::Act { task_type, version, input }, timeout)?;
            }
        }
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let (kind, _) = step.type_of_worker()?;
        if kind.mode == Mode::Task {
            return match report_of(step, resumed)? {
                Some((result, outcome)) => step.worker_done(result, outcome.as_deref()),
                None => Ok(Next::Wait),
            };
        }
        let input = &mut resumed.input;
        if let Some(failure) = nats::failure(input) {
            return Err(failure);
        }
        if let Some(code) = input.get("statusCode").and_then(Value::as_u64) {
            let said = input.get("message").and_then(Value::as_str).unwrap_or_default();
            let message = format!("the worker answered with the error {code}: {said}");
            return Err(Failure::new("WorkerFailed", message).in_category("Nats"));
        }
        let outcome = input.get("outcome").and_then(Value::as_str).map(str::to_owned);
        let result = input.remove("content").unwrap_or_default();
        step.worker_done(result, outcome.as_deref())
    }
}
