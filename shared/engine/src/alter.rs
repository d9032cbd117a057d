//! The changes of an operator, applied to the state. What does not fit is refused as a whole.

use model::{ActivityId, Alteration, SubStatus, What};
use serde_json::{Value, json};

use crate::outline::{Declared, NodeRef};
use crate::program::Program;
use crate::run::Run;
use crate::state::Execution;
use crate::{Problem, Rest, Step};

/// Everything that does not fit.
type Refused = Vec<Problem>;

impl<'a> Run<'a> {
    /// Applies the alterations in order, and goes on.
    pub(crate) fn alter(
        &mut self,
        alterations: &[Alteration],
        target: &'a Program,
    ) -> Result<Rest, Refused> {
        let before = self.draft.state.status;
        self.draft.state.turns += 1;
        self.change(alterations, target)?;
        Ok(self.go_on(before))
    }

    /// Applies the alterations in order, and runs nothing yet.
    pub(crate) fn change(
        &mut self,
        alterations: &[Alteration],
        target: &'a Program,
    ) -> Result<(), Refused> {
        if alterations.is_empty() {
            return Err(refused("there is no alteration: name at least one"));
        }
        alterations.iter().try_for_each(|alteration| self.change_one(alteration, target))
    }

    fn change_one(&mut self, alteration: &Alteration, target: &'a Program) -> Result<(), Refused> {
        let state = &self.draft.state;
        let is_over = state.status.is_final();
        let can_be_retried = state.can_be_retried();
        let fits = match alteration {
            Alteration::Retry { .. } | Alteration::Skip { .. } => {
                state.status == SubStatus::Faulted || !is_over
            }
            Alteration::ModifyVariable { .. } | Alteration::Migrate { .. } => {
                !is_over || can_be_retried
            }
            _ => !is_over,
        };
        if !fits {
            return Err(refused(format!(
                "{alteration} does not fit an instance that is {}: restart it instead",
                state.status
            )));
        }
        match alteration {
            Alteration::Cancel { reason } => {
                self.altered(alteration, reason.as_ref().map(|reason| json!({"reason": reason})));
                let running: Vec<u64> = self.draft.state.executions.keys().copied().collect();
                for number in running {
                    self.draft.write(number, What::Canceled, None, None);
                }
                self.draft.halt(SubStatus::Cancelled);
                Ok(())
            }
            Alteration::CancelActivity { activity_id, activity_instance_id } => {
                let found = self.executions(activity_id.as_ref(), activity_instance_id.as_ref())?;
                self.altered(alteration, Some(named(activity_id, activity_instance_id)));
                for number in found {
                    self.draft.end_execution(number);
                }
                Ok(())
            }
            Alteration::Migrate { target_version, activities } => {
                self.migrate(*target_version, activities, target)
            }
            Alteration::ModifyVariable { variable_id, value } => self.modify(variable_id, value),
            Alteration::ScheduleActivity { activity_id, activity_instance_id } => {
                self.altered(alteration, Some(named(activity_id, activity_instance_id)));
                self.schedule(activity_id.as_ref(), activity_instance_id.as_ref())
            }
            Alteration::Retry { activity_ids } => self.retry(activity_ids),
            Alteration::Skip { activity_id, activity_instance_id, outcomes } => {
                self.skip(activity_id.as_ref(), activity_instance_id.as_ref(), outcomes)
            }
            Alteration::Pause { reason } => {
                if self.draft.state.is_paused {
                    return Err(refused("the instance is paused already"));
                }
                self.altered(alteration, reason.as_ref().map(|reason| json!({"reason": reason})));
                self.draft.state.is_paused = true;
                Ok(())
            }
            Alteration::Unpause => {
                if !self.draft.state.is_paused {
                    return Err(refused("the instance is not paused"));
                }
                self.altered(alteration, None);
                self.draft.state.is_paused = false;
                Ok(())
            }
        }
    }

    fn altered(&mut self, alteration: &Alteration, payload: Option<Value>) {
        self.draft.write_whole(What::Altered, alteration.name().to_owned(), payload);
    }

    /// The executions that an alteration names.
    fn executions(
        &self,
        activity_id: Option<&ActivityId>,
        activity_instance_id: Option<&String>,
    ) -> Result<Vec<u64>, Refused> {
        let executions = self.draft.state.executions.values();
        let found: Vec<u64> = match (activity_instance_id, activity_id) {
            (Some(id), _) => executions.filter(|one| one.id == *id).map(|one| one.number).collect(),
            (None, Some(id)) => {
                executions.filter(|one| self.is_of(one, id)).map(|one| one.number).collect()
            }
            (None, None) => return Err(refused("name an activityId or an activityInstanceId")),
        };
        if found.is_empty() {
            let what = activity_instance_id.map_or_else(
                || format!("activity {}", activity_id.map_or("", ActivityId::as_str)),
                |id| format!("activity execution {id}"),
            );
            return Err(refused(format!("{what} neither runs nor waits")));
        }
        Ok(found)
    }

    fn is_of(&self, execution: &Execution, id: &ActivityId) -> bool {
        let node = self.program.outline.keyed(&execution.node).1;
        node.id == *id || node.path == id.as_str()
    }

    /// Runs faulted executions again, and resolves their incidents.
    fn retry(&mut self, ids: &[ActivityId]) -> Result<(), Refused> {
        let was_over = self.revive()?;
        let wanted = |one: &&Execution| {
            one.faulted && (ids.is_empty() || ids.iter().any(|id| self.is_of(one, id)))
        };
        let found: Vec<(u64, String)> = self
            .draft
            .state
            .executions
            .values()
            .filter(wanted)
            .map(|one| (one.number, one.node.clone()))
            .collect();
        let goes_on = was_over && ids.is_empty() && !self.draft.state.work.is_empty();
        if found.is_empty() && !goes_on {
            let ids: Vec<_> = ids.iter().map(ActivityId::as_str).collect();
            return Err(refused(match ids.is_empty() {
                true => "no activity of the instance is faulted".to_owned(),
                false => format!("of {}, no activity is faulted", ids.join(", ")),
            }));
        }
        let mut resolved = Vec::new();
        for (number, key) in &found {
            let node = self.program.outline.keyed(key).1;
            resolved.push(json!({"activityId": node.id, "incident": self.resolve(&node.path)}));
            self.draft.rerun(*number);
        }
        if found.is_empty() {
            let last = self.draft.state.incidents.pop();
            resolved.push(json!({"incident": last.map(|incident| incident.message)}));
            let count = &mut self.draft.state.incident_count;
            *count = count.saturating_sub(1);
        }
        self.draft.write_whole(
            What::Altered,
            "Retry".to_owned(),
            Some(json!({ "activities": resolved })),
        );
        Ok(())
    }

    /// Completes faulted executions with these outcomes, and resolves their incidents.
    fn skip(
        &mut self,
        activity_id: Option<&ActivityId>,
        activity_instance_id: Option<&String>,
        outcomes: &[String],
    ) -> Result<(), Refused> {
        self.revive()?;
        let found = self.executions(activity_id, activity_instance_id)?;
        let executions = &self.draft.state.executions;
        let faulted = |number: &u64| {
            let execution = executions.get(number).filter(|execution| execution.faulted)?;
            Some((*number, execution.node.clone()))
        };
        let found: Vec<(u64, String)> = found.iter().filter_map(faulted).collect();
        if found.is_empty() {
            return Err(refused(
                "the activity is not faulted: only one that has failed is skipped; use                  CancelActivity to leave one that runs or waits",
            ));
        }
        let outcomes = match outcomes.is_empty() {
            true => vec!["Done".to_owned()],
            false => outcomes.to_vec(),
        };
        let resolved: Vec<_> = found
            .iter()
            .map(|(_, key)| {
                let node = self.program.outline.keyed(key).1;
                json!({"activityId": node.id, "incident": self.resolve(&node.path)})
            })
            .collect();
        let payload = json!({"activities": resolved, "outcomes": outcomes});
        self.draft.write_whole(What::Altered, "Skip".to_owned(), Some(payload));
        for (number, _) in found {
            self.complete(number, outcomes.clone());
        }
        Ok(())
    }

    /// Goes back to what the instance held when an incident ended it; true if one had.
    fn revive(&mut self) -> Result<bool, Refused> {
        let was_over = self.draft.state.status.is_final();
        if was_over && !self.draft.revive() {
            return Err(refused(
                "nothing is left of the instance that could run again: restart it instead",
            ));
        }
        Ok(was_over)
    }

    /// Takes the newest incident of an activity away, and returns its message.
    fn resolve(&mut self, path: &str) -> Option<String> {
        let state = &mut self.draft.state;
        state.incident_count = state.incident_count.saturating_sub(1);
        let at = state.incidents.iter().rposition(|one| one.activity_node_id == path)?;
        Some(state.incidents.remove(at).message)
    }

    /// Runs an activity: again where it runs or waits, else in its container.
    fn schedule(
        &mut self,
        activity_id: Option<&ActivityId>,
        activity_instance_id: Option<&String>,
    ) -> Result<(), Refused> {
        if let Ok(found) = self.executions(activity_id, activity_instance_id) {
            let [number] = found.as_slice() else {
                return Err(refused(format!(
                    "the activity runs {} times: name one by its activityInstanceId",
                    found.len()
                )));
            };
            self.draft.write(*number, What::Canceled, None, None);
            self.draft.rerun(*number);
            return Ok(());
        }
        let (Some(id), None) = (activity_id, activity_instance_id) else {
            return self.executions(activity_id, activity_instance_id).map(drop);
        };
        let places = self.places(id)?;
        let [(owner, child)] = places.as_slice() else {
            return Err(refused(format!(
                "activity {id} belongs to {} containers that run: name it by its path",
                places.len()
            )));
        };
        let Some(execution) = self.draft.state.executions.get(owner) else { return Ok(()) };
        let (container, _) = self.program.outline.keyed(&execution.node);
        let program = self.program;
        let step = &mut Step::new(&mut self.draft, *owner, container);
        program
            .activity(container)
            .jump(step, *child)
            .map_err(|failure| vec![Problem::error(Some(id), None, failure.message)])
    }

    /// The running containers of an activity, with its node in each.
    fn places(&self, id: &ActivityId) -> Result<Vec<(u64, NodeRef)>, Refused> {
        let outline = &self.program.outline;
        let is_it = |child: &NodeRef| {
            let node = outline.node(*child);
            node.id == *id || node.path == id.as_str()
        };
        if !outline.nodes.iter().any(|node| node.id == *id || node.path == id.as_str()) {
            return Err(refused(format!("the definition has no activity {id}")));
        }
        let running = self.draft.state.executions.values().filter(|one| !one.faulted);
        let places: Vec<_> = running
            .flat_map(|one| {
                let children = outline.keyed(&one.node).1.children.values().flatten();
                children.filter(|child| is_it(child)).map(|child| (one.number, *child))
            })
            .collect();
        if places.is_empty() {
            let message = format!(
                "the container of activity {id} does not run: schedule the container, or restart \
                 the instance from the activity"
            );
            return Err(refused(message));
        }
        Ok(places)
    }

    /// Gives a variable of the workflow, or of the one execution that declares it, a value.
    fn modify(&mut self, id: &str, value: &Value) -> Result<(), Refused> {
        let outline = &self.program.outline;
        let payload = json!({ "variableId": id });
        if let Some(declared) = declared(&outline.variables, id) {
            let value = fitting(declared, value)?;
            self.draft.state.variables.insert(declared.id.clone(), value);
            self.draft.note_change(0, declared);
        } else {
            let state = &mut self.draft.state;
            let executions = match &mut state.halted {
                Some(halted) => &mut halted.executions,
                None => &mut state.executions,
            };
            let mut found: Vec<_> = executions
                .values_mut()
                .filter_map(|one| {
                    let variables = &outline.node(outline.find(&one.node)?).variables;
                    Some((declared(variables, id)?, one))
                })
                .collect();
            let (owner, declared) = match found.as_mut_slice() {
                [(declared, execution)] => {
                    let value = fitting(declared, value)?;
                    execution.variables.insert(declared.id.clone(), value);
                    (execution.number, *declared)
                }
                [] => return Err(refused(format!("there is no variable {id}"))),
                several => {
                    return Err(refused(format!(
                        "variable {id} exists {} times now, once for each execution of its \
                         container: it cannot be set from outside",
                        several.len()
                    )));
                }
            };
            self.draft.note_change(owner, declared);
        }
        self.draft.spend(value);
        self.draft.write_whole(What::Altered, "ModifyVariable".to_owned(), Some(payload));
        Ok(())
    }
}

pub(crate) fn declared<'d>(variables: &'d [Declared], id: &str) -> Option<&'d Declared> {
    let by_id = variables.iter().find(|declared| declared.id == id);
    by_id.or_else(|| variables.iter().find(|declared| declared.name == id))
}

fn fitting(declared: &Declared, value: &Value) -> Result<Value, Refused> {
    declared
        .fit(value.clone())
        .map_err(|error| refused(format!("variable {}: {error}", declared.name)))
}

fn named(activity_id: &Option<ActivityId>, activity_instance_id: &Option<String>) -> Value {
    json!({"activityId": activity_id, "activityInstanceId": activity_instance_id})
}

/// A refusal with one reason.
pub(crate) fn refused(message: impl Into<String>) -> Refused {
    vec![Problem::error(None, None, message)]
}
