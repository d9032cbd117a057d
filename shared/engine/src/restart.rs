//! The beginning of an instance elsewhere than at its start, or with other values of its variables.

use model::ActivityId;
use serde_json::Value;

use crate::alter::declared;
use crate::outline::{Declared, Outline};
use crate::program::Program;
use crate::run::{Run, trigger_key};
use crate::{Failure, Restart};

/// What an instance takes over, once it is found to fit.
struct Taken<'o> {
    /// The new values of variables.
    values: Vec<(&'o Declared, Value)>,
    /// The key of the activity to begin at.
    activity: Option<String>,
}

impl Program {
    /// Whether an instance can begin at this trigger, and with this.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn can_begin(
        &self,
        trigger: Option<&ActivityId>,
        restart: Option<&Restart>,
    ) -> Result<(), Failure> {
        if let Some(id) = trigger
            && trigger_key(&self.outline, id.as_str()).is_none()
        {
            let message = format!("there is no activity {:?} to start at", id.as_str());
            return Err(Failure::new("UnknownTrigger", message));
        }
        restart.map_or(Ok(()), |restart| taken(&self.outline, restart.clone()).map(drop))
    }

    /// The names of the variables of the workflow; none when one of them has this name or id.
    #[must_use]
    pub fn variables_without(&self, name: &str) -> Option<Vec<&str>> {
        let variables = &self.outline.variables;
        let is_known = declared(variables, name).is_some();
        (!is_known).then(|| variables.iter().map(|one| one.name.as_str()).collect())
    }
}

impl Run<'_> {
    /// Takes over what the instance has from the one that it repeats.
    pub(crate) fn restart(&mut self, restart: Restart) -> Result<(), Failure> {
        let outline = &self.program.outline;
        let Taken { values, activity } = taken(outline, restart)?;
        for (declared, value) in values {
            self.draft.state.variables.insert(declared.id.clone(), value);
            self.draft.note_change(0, declared);
        }
        if activity.is_some() {
            self.draft.state.trigger = activity;
        }
        Ok(())
    }
}

fn taken(outline: &Outline, restart: Restart) -> Result<Taken<'_>, Failure> {
    let mut values = Vec::new();
    for (id, value) in restart.variables {
        let Some(declared) = declared(&outline.variables, &id) else { continue };
        let value = declared.fit(value).map_err(|error| {
            Failure::new("InvalidVariable", format!("variable {}: {error}", declared.name))
        })?;
        values.push((declared, value));
    }
    let Some(id) = restart.activity else { return Ok(Taken { values, activity: None }) };
    let root = outline.root();
    let children = root.children.values().flatten().map(|child| outline.node(*child));
    let found = children.into_iter().find(|child| child.id == id || child.path == id.as_str());
    match found {
        Some(node) if root.type_name() == "Elsa.Flowchart" => {
            Ok(Taken { values, activity: Some(node.key.clone()) })
        }
        _ => Err(Failure::new(
            "CannotRestart",
            format!(
                "an instance can begin only at an activity of a Flowchart that is the root of \
                 its definition, and {id} is none"
            ),
        )),
    }
}
