//! Test runs of workflows, as they are asked for.

use std::collections::BTreeMap;

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// A workflow to try out.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowTest {
    /// The definition, as for a save.
    #[schema(value_type = Object)]
    model: Map,
    /// The run ends once this activity is over: its id, its path or its name.
    until: Option<String>,
    /// The input of the start.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    /// Properties of the start, such as `Flowchart:ExecutionMode`.
    #[schema(value_type = Option<Object>)]
    properties: Option<Map>,
    correlation_id: Option<String>,
    /// Values of variables at the start, by id or name.
    #[schema(value_type = Option<Object>)]
    variables: Option<Map>,
    /// The trigger: `{event, payload}`, `{http: {method, path, …}}` or `{activity, input}`; without it, a
    /// plain start.
    #[schema(value_type = Option<Object>)]
    start: Option<Map>,
    /// The time of the start; now if it is not given.
    now: Option<String>,
    /// What happens, in order: as in `start`, or `{cancel: reason}`; with `after` at that time after the
    /// start.
    #[schema(value_type = Option<Vec<Object>>)]
    steps: Option<Vec<Value>>,
    /// Timers that are due later than this after the start do not fire, such as `10h`; `8784h` at most.
    time: Option<String>,
    /// Answers to calls, by method and URL with `*` for any characters.
    #[schema(value_type = Option<Object>)]
    calls: Option<Map>,
    /// Results of tasks by name.
    #[schema(value_type = Option<Object>)]
    tasks: Option<Map>,
    /// Ends of child workflows by definition id: `{output, status}`.
    #[schema(value_type = Option<Object>)]
    workflows: Option<Map>,
    /// Values of secrets by name.
    #[schema(value_type = Option<Object>)]
    secrets: Option<Map>,
    /// Results of activities by id, path or name, at most 1000: such an activity does nothing and has
    /// this result.
    pins: Option<BTreeMap<String, TestPin>>,
}

/// The result of an activity that does nothing.
#[derive(ToSchema)]
pub(crate) struct TestPin {
    /// The outcome that it completes with; `Done` if it is not given.
    outcome: Option<String>,
    /// Several outcomes.
    outcomes: Option<Vec<String>>,
    /// Its outputs by name.
    #[schema(value_type = Option<Object>)]
    outputs: Option<Map>,
}

/// A workflow and its tests.
#[derive(ToSchema)]
pub(crate) struct TestCases {
    /// The definition, as for a save.
    #[schema(value_type = Object)]
    model: Map,
    /// The text of a test file, in YAML or JSON.
    cases: String,
}

/// A test file to read or to write.
#[derive(ToSchema)]
pub(crate) struct TestCasesCheck {
    /// The text of a test file, in YAML or JSON, or its content as an object.
    cases: Value,
}
