//! What a script of a definition can use, read from the document: it may have mistakes still.

use model::{Definition, Map, Variable};
use serde_json::Value;

use crate::evaluate::Asked;
use crate::place::{Place, all, descriptor, text};
use crate::program::type_of;
use crate::{Descriptor, Registry, Surroundings, Type};

impl Surroundings {
    /// What scripts of a definition can use; of one activity, or of one input, if it is named.
    pub(crate) fn of(definition: &Definition, asked: &Asked, registry: &Registry) -> Self {
        let inputs = definition.inputs.iter();
        let mut found = Self {
            inputs: inputs.map(|input| (input.name.clone(), type_of(input))).collect(),
            ..Self::default()
        };
        let place = asked.activity_id.as_deref();
        let place = place.and_then(|id| Place::of(&definition.root, id, registry));
        match &place {
            Some(place) => found.at(place, registry),
            None => {
                let mut activities = Vec::new();
                all(&definition.root, registry, &mut activities);
                for activity in activities {
                    found.declare(&own(activity));
                    found.give(activity, registry);
                    found.add(activity, registry);
                }
            }
        }
        found.declare(&definition.variables);
        let here = place.as_ref().and_then(|place| descriptor(place.around.last()?, registry));
        let named =
            || registry.get(asked.activity_type.as_deref()?).map(|known| &*known.descriptor);
        if let Some(descriptor) = here.or_else(named) {
            found.take(descriptor, asked.property.as_deref());
        }
        found
    }

    /// The variables around a place, the nearest first, and the outputs before it.
    fn at(&mut self, place: &Place<'_>, registry: &Registry) {
        let mut around = place.around.iter().rev();
        if let Some(here) = around.next() {
            self.declare(&own(here));
        }
        for container in around {
            self.give(container, registry);
            self.declare(&own(container));
        }
        place.before.iter().for_each(|activity| self.add(activity, registry));
    }

    /// What an input gives to its script alone.
    fn take(&mut self, descriptor: &Descriptor, property: Option<&str>) {
        let inputs = descriptor.inputs.iter().filter(|input| {
            property.is_none_or(|property| input.name.eq_ignore_ascii_case(property))
        });
        let (mut arguments, mut sets_outcomes) = (Vec::new(), false);
        for input in inputs {
            arguments.extend(input.arguments.iter().map(|name| (*name).to_owned()));
            sets_outcomes |= input.sets_outcomes;
        }
        self.arguments = Some(arguments);
        self.refuses_outcomes = !sets_outcomes;
    }

    fn declare(&mut self, variables: &[Variable]) {
        let typed = variables.iter().map(|variable| {
            let alias = variable.type_name.as_deref().unwrap_or("Object");
            (variable.name.clone(), Type::from_alias(alias, variable.is_array))
        });
        self.variables.extend(typed);
    }

    /// Adds the variables that an activity gives to those in it.
    fn give(&mut self, activity: &Map, registry: &Registry) {
        let given = descriptor(activity, registry).into_iter().flat_map(|known| known.gives);
        self.variables.extend(given.map(|name| ((*name).to_owned(), Type::Object)));
    }

    /// Adds the outputs of an activity.
    fn add(&mut self, activity: &Map, registry: &Registry) {
        let Some(descriptor) = descriptor(activity, registry) else { return };
        let Some(name) = text(activity, "name").or_else(|| text(activity, "id")) else { return };
        let outputs = descriptor.outputs.iter();
        self.outputs.extend(
            outputs.map(|output| (name.to_owned(), output.name.to_owned(), output.ty.clone())),
        );
    }
}

/// The variables that an activity declares.
fn own(activity: &Map) -> Vec<Variable> {
    let own = activity.get("variables").cloned().unwrap_or(Value::Null);
    serde_json::from_value(own).unwrap_or_default()
}
