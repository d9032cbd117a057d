//! Results that are given, for tests: an activity that has one does nothing, and completes with it.

use std::sync::Arc;

use model::Map;

use crate::decision::{Cause, Decision, Failure, Next, Resumed};
use crate::outline::{Node, NodeRef};
use crate::program::Program;
use crate::{Activity, Descriptor, Problem, Step};

/// The result that an activity has whenever it would run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pin {
    /// Its path, its id or its name.
    pub activity: String,
    /// The outcomes that it completes with; `Done` if there are none.
    pub outcomes: Vec<String>,
    /// Its outputs by name, in any case.
    pub outputs: Map,
}

impl Program {
    /// The same program, in which these activities do nothing and complete with the results that are
    /// given, whatever they are. Their inputs are not evaluated.
    ///
    /// # Errors
    /// A [`Problem`] for each pin that names no activity, or gives what the activity does not have.
    pub fn pinned(&self, pins: &[Pin]) -> Result<Self, Vec<Problem>> {
        let mut activities = self.activities.clone();
        let mut problems = Vec::new();
        for pin in pins {
            let nodes = self.meant(&pin.activity);
            if nodes.is_empty() {
                let message = format!("there is no activity {:?} to pin", pin.activity);
                problems.push(Problem::error(None, None, message));
            }
            for at in nodes {
                let Some(activity) = activities.get_mut(at.0 as usize) else { continue };
                match Pinned::of(self.outline.node(at), pin, activity) {
                    Ok(pinned) => *activity = Arc::new(pinned),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self { outline: Arc::clone(&self.outline), activities })
    }

    /// The paths of the activities that a path, an id or a name means: those of the workflow itself
    /// before those of workflows that it uses as activities.
    pub fn paths(&self, name: &str) -> impl Iterator<Item = &str> {
        self.meant(name).into_iter().map(|at| self.outline.node(at).path.as_str())
    }

    fn meant(&self, name: &str) -> Vec<NodeRef> {
        let outline = &self.outline;
        let rules: [&dyn Fn(&Node) -> bool; 4] = [
            &|node| node.path == name,
            &|node| node.id.as_str() == name && outline.is_own(node),
            &|node| node.id.as_str() == name,
            &|node| node.name.as_deref() == Some(name),
        ];
        let found = rules.into_iter().map(|is_meant| {
            let nodes = outline.nodes.iter().zip(0_u32..);
            nodes.filter(|(node, _)| is_meant(node)).map(|(_, at)| NodeRef(at)).collect::<Vec<_>>()
        });
        found.into_iter().find(|nodes| !nodes.is_empty()).unwrap_or_default()
    }
}

/// An activity with a given result.
struct Pinned {
    /// The activity that does not run.
    inner: Arc<dyn Activity>,
    outcomes: Vec<String>,
    /// By the names that the activity has for them.
    outputs: Map,
}

impl Pinned {
    fn of(node: &Node, pin: &Pin, inner: &Arc<dyn Activity>) -> Result<Self, Problem> {
        let known: Vec<&str> = match node.used.as_deref() {
            Some(used) => used.outputs.iter().map(|output| output.name.as_str()).collect(),
            None => node.descriptor.outputs.iter().map(|output| output.name).collect(),
        };
        let mut outputs = Map::new();
        for (name, value) in &pin.outputs {
            let Some(own) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
                let message = format!("it has no output {name:?} to pin: {}", listed(&known));
                return Err(Problem::error(Some(&node.id), None, message));
            };
            outputs.insert((*own).to_owned(), value.clone());
        }
        let outcomes = match pin.outcomes.is_empty() {
            true => vec!["Done".to_owned()],
            false => pin.outcomes.clone(),
        };
        if let Some(known) = node.outcomes().filter(|known| known.is_all) {
            let unknown = outcomes.iter().find(|outcome| !known.names.contains(outcome));
            if let Some(outcome) = unknown {
                let known: Vec<_> = known.names.iter().map(String::as_str).collect();
                let message = format!("it has no outcome {outcome:?} to pin: {}", listed(&known));
                return Err(Problem::error(Some(&node.id), None, message));
            }
        }
        Ok(Self { inner: Arc::clone(inner), outcomes, outputs })
    }

    fn complete(&self, step: &mut Step<'_, '_>) -> Decision {
        step.give_outputs(&self.outputs)?;
        Ok(Next::Complete(self.outcomes.clone()))
    }
}

impl Activity for Pinned {
    fn descriptor(&self) -> Descriptor {
        self.inner.descriptor()
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        self.complete(step)
    }

    fn resume(&self, step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        self.complete(step)
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        self.inner.triggers(step)
    }
}

impl Step<'_, '_> {
    /// Sets outputs. Those of a workflow that is used as an activity are handed out when it is over.
    fn give_outputs(&mut self, outputs: &Map) -> Result<(), Failure> {
        if self.node.workflow().is_some() {
            let execution = self.draft.state.executions.get_mut(&self.number);
            if let Some(execution) = execution {
                execution.output.clone_from(outputs);
            }
            return Ok(());
        }
        for (name, value) in outputs {
            self.set_output(name, value.clone())?;
        }
        Ok(())
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "it has none".to_owned() } else { format!("use {}", names.join(", ")) }
}
