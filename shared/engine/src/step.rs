//! The values that an activity can read in a decision, and its requests.

mod ask;
mod keep;
mod load;
mod read;
mod secret;

use std::cell::Cell;

use model::{ActivityId, Map, Timestamp};
use serde_json::Value;

use crate::decision::Failure;
use crate::draft::Draft;
use crate::outline::{Node, NodeRef};
use crate::state::Execution;
use crate::{Env, Type};

/// One decision of one execution of an activity.
pub struct Step<'r, 'a> {
    pub(crate) draft: &'r mut Draft<'a>,
    /// Zero while triggers are evaluated: there is no instance then.
    pub(crate) number: u64,
    pub(crate) node: &'a Node,
    /// The arguments of the evaluation in progress.
    pub(crate) arguments: Map,
    /// Set by scripts, if the activity allows it.
    pub(crate) outcomes: Option<Vec<String>>,
    pub(crate) takes_outcomes: bool,
    /// The evaluation in progress gives bytes as a file.
    pub(crate) takes_files: bool,
    /// The reason why a script's assignment failed.
    pub(crate) flaw: Option<Failure>,
    /// How often this decision has read a value that the journal must not keep.
    pub(crate) hidden_reads: Cell<u32>,
    reading: secret::Reading,
}

/// An execution of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildExecution {
    number: u64,
    /// The node that it executes.
    pub node: NodeRef,
}

impl<'r, 'a> Step<'r, 'a> {
    pub(crate) fn new(draft: &'r mut Draft<'a>, number: u64, node: NodeRef) -> Self {
        let node = draft.outline.node(node);
        Self {
            draft,
            number,
            node,
            arguments: Map::new(),
            outcomes: None,
            takes_outcomes: false,
            takes_files: false,
            flaw: None,
            hidden_reads: Cell::new(0),
            reading: secret::Reading::default(),
        }
    }

    fn execution(&self) -> Option<&Execution> {
        self.draft.state.executions.get(&self.number)
    }

    /// The journal keeps nothing that is computed from what was read now.
    pub(crate) fn read_hidden(&self) {
        self.hidden_reads.set(self.hidden_reads.get().saturating_add(1));
    }

    /// The time of the turn.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.draft.env.now
    }

    /// Time and random numbers of the turn, and the address of the installation.
    #[must_use]
    pub fn env(&self) -> &'a Env {
        self.draft.env
    }

    /// The activity's id.
    #[must_use]
    pub fn activity_id(&self) -> &'a ActivityId {
        &self.node.id
    }

    /// Its type name.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.node.descriptor.type_name
    }

    /// The instance's id.
    #[must_use]
    pub fn instance_id(&self) -> &model::InstanceId {
        &self.draft.state.instance_id
    }

    /// The instance's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.draft.state.correlation_id.as_deref()
    }

    /// The data that the activity type prepared when the definition was compiled.
    #[must_use]
    pub fn plan<T: 'static>(&self) -> Option<&'a T> {
        self.node.plan.as_ref()?.downcast_ref()
    }

    /// A custom property of the activity, by its camelCase name.
    #[must_use]
    pub fn custom(&self, name: &str) -> Option<&'a Value> {
        self.node.custom.get(name)
    }

    /// The declared type of the variable or workflow output that gets this output; none if nothing
    /// gets it.
    #[must_use]
    pub fn bound_type(&self, output: &str) -> Option<&'a Type> {
        let node: &'a Node = self.node;
        node.bindings.iter().find(|bound| bound.output == output)?.ty.as_ref()
    }

    /// A property that the start of the instance has set.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.draft.state.properties.get(name)
    }

    /// A custom property of the definition, by its camelCase name.
    #[must_use]
    pub fn definition_custom(&self, name: &str) -> Option<&'a Value> {
        self.draft.outline.custom.get(name)
    }

    /// A child's id.
    #[must_use]
    pub fn id_of(&self, child: NodeRef) -> &'a ActivityId {
        &self.draft.outline.node(child).id
    }

    /// The activities in a port.
    #[must_use]
    pub fn children(&self, port: &str) -> &'a [NodeRef] {
        self.node.children.get(port).map(Vec::as_slice).unwrap_or_default()
    }

    /// The activity in a port that holds one.
    #[must_use]
    pub fn child(&self, port: &str) -> Option<NodeRef> {
        self.children(port).first().copied()
    }

    /// The enclosing flowchart has a connection for this outcome of the activity.
    #[must_use]
    pub fn is_connected(&self, outcome: &str) -> bool {
        self.node.connected.iter().any(|connected| connected == outcome)
    }

    /// A child's completion ends its container.
    #[must_use]
    pub fn is_terminal(&self, child: NodeRef) -> bool {
        self.draft.outline.node(child).descriptor.is_terminal
    }

    /// The activity that received the trigger of the instance.
    #[must_use]
    pub fn trigger(&self) -> Option<NodeRef> {
        self.draft.outline.find(self.draft.state.trigger.as_ref()?)
    }

    /// Children that are scheduled, running, waiting or faulted.
    #[must_use]
    pub fn has_open_children(&self) -> bool {
        self.execution().is_some_and(|execution| execution.children > 0)
    }

    /// A child is scheduled and has not begun.
    #[must_use]
    pub fn is_scheduled(&self, child: NodeRef) -> bool {
        let key = &self.draft.outline.node(child).key;
        let mut work = self.draft.state.work.iter();
        work.any(|work| work.owner == Some(self.number) && work.node.as_ref() == Some(key))
    }

    /// Children that are scheduled and have not begun.
    #[must_use]
    pub fn scheduled_children(&self) -> Vec<NodeRef> {
        let mine = self.draft.state.work.iter().filter(|work| work.owner == Some(self.number));
        mine.filter_map(|work| self.draft.outline.find(work.node.as_ref()?)).collect()
    }

    /// Executions of children that are not over.
    #[must_use]
    pub fn running_children(&self) -> Vec<ChildExecution> {
        let after = self.draft.state.executions.range(self.number + 1..);
        let mine = after.filter(|(_, execution)| execution.owner == Some(self.number));
        let found = mine.filter_map(|(number, execution)| {
            let node = self.draft.outline.find(&execution.node)?;
            Some(ChildExecution { number: *number, node })
        });
        found.collect()
    }

    /// The memory of the execution; null at first.
    pub fn memory(&mut self) -> Option<&mut Value> {
        let execution = self.draft.state.executions.get_mut(&self.number);
        execution.map(|execution| &mut execution.memory)
    }
}
