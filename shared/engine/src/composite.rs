//! A workflow that is used as an activity: it runs within the instance of the workflow around it.
//!
//! Its inputs are evaluated outside, when it begins, and its outputs are handed out when it is
//! over. In between, variables, inputs, outputs and results of activities are those of the
//! innermost workflow: names of the two sides never mix.

use model::Map;

use crate::decision::{Child, Decision, Failure, Next};
use crate::outline::Used;
use crate::program::missing_outputs;
use crate::{Activity, Descriptor, PortKind, Step};

/// The property with the root activity.
pub(crate) const ROOT: &str = "root";

/// The activity of every workflow that is used as one.
pub(crate) struct WorkflowActivity;

impl Activity for WorkflowActivity {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "Elsa.WorkflowDefinitionActivity",
            "Workflows",
            "Runs another workflow within this one.",
        )
        .port(ROOT, PortKind::Embedded)
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        step.enter()?;
        step.schedule(step.child(ROOT), None);
        Ok(Next::Wait)
    }

    fn child_completed(&self, _step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(Next::done())
    }
}

impl<'a> Step<'_, 'a> {
    /// The innermost workflow used as an activity that this activity is a part of, and the number
    /// of its execution; none for a part of the instance's own workflow.
    pub(crate) fn composite(&self) -> Option<(u64, &'a Used)> {
        let executions = &self.draft.state.executions;
        let mut at = executions.get(&self.number)?.owner;
        while let Some(execution) = at.and_then(|number| executions.get(&number)) {
            let (_, node) = self.draft.outline.keyed(&execution.node);
            if let Some(workflow) = node.workflow() {
                return Some((execution.number, workflow));
            }
            at = execution.owner;
        }
        None
    }

    /// Evaluates the inputs of the workflow, in the workflow around it.
    fn enter(&mut self) -> Result<(), Failure> {
        let Some(used) = self.node.used.as_deref() else { return Ok(()) };
        let input = self.given(used)?;
        if let Some(execution) = self.draft.state.executions.get_mut(&self.number) {
            execution.input = input;
        }
        Ok(())
    }

    /// The values of the inputs.
    pub(crate) fn given(&mut self, used: &Used) -> Result<Map, Failure> {
        let mut input = Map::new();
        for (name, (expression, ty)) in &used.given {
            let reads = self.hidden_reads.get();
            let value = self.evaluate(name, expression, ty)?;
            self.draft.spend(&value);
            if !expression.is_literal() && reads == self.hidden_reads.get() {
                self.keep_input(name, &value);
            }
            input.insert(name.clone(), value);
        }
        Ok(input)
    }

    /// Hands out the outputs of the workflow, to what is bound to them.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        let execution = self.draft.state.executions.get_mut(&self.number);
        let output = execution.map(|execution| std::mem::take(&mut execution.output));
        let output = output.unwrap_or_default();
        if let Some(composite) = self.node.used.as_deref() {
            missing_outputs(&composite.outputs, &output)?;
        }
        for (name, value) in output {
            self.set_output(&name, value)?;
        }
        Ok(())
    }
}
