//! What a script of a definition can use, read from the document: it may have mistakes still.

use model::{Argument, Definition, Map, Variable};
use serde_json::Value;

use crate::{Registry, Surroundings, Type};

impl Surroundings {
    /// The variables, inputs and outputs of a definition. Those of its containers are among them.
    pub(crate) fn of(definition: &Definition, registry: &Registry) -> Self {
        let inputs = definition.inputs.iter();
        let mut found = Self {
            inputs: inputs.map(|input| (input.name.clone(), type_of(input))).collect(),
            ..Self::default()
        };
        found.declare(&definition.variables);
        let mut rest = vec![&definition.root];
        while let Some(value) = rest.pop() {
            match value {
                Value::Array(items) => rest.extend(items.iter().rev()),
                Value::Object(map) => {
                    found.add(map, registry);
                    rest.extend(map.values().rev());
                }
                _ => {}
            }
        }
        found
    }

    fn declare(&mut self, variables: &[Variable]) {
        let typed = variables.iter().map(|variable| {
            let alias = variable.type_name.as_deref().unwrap_or("Object");
            (variable.name.clone(), Type::from_alias(alias, variable.is_array))
        });
        self.variables.extend(typed);
    }

    /// Adds what an activity declares and gives.
    fn add(&mut self, raw: &Map, registry: &Registry) {
        let text = |name: &str| raw.get(name).and_then(Value::as_str);
        let Some(registered) = text("type").and_then(|name| registry.get(name)) else { return };
        let own = raw.get("variables").cloned().unwrap_or_default();
        if let Ok(variables) = serde_json::from_value::<Vec<Variable>>(own) {
            self.declare(&variables);
        }
        let given = registered.descriptor.gives.iter();
        self.variables.extend(given.map(|name| ((*name).to_owned(), Type::Object)));
        let Some(activity) = text("name").or_else(|| text("id")) else { return };
        let outputs = registered.descriptor.outputs.iter();
        self.outputs.extend(
            outputs.map(|output| (activity.to_owned(), output.name.to_owned(), output.ty.clone())),
        );
    }
}

fn type_of(argument: &Argument) -> Type {
    let alias = argument.type_name.as_deref().unwrap_or("Object");
    Type::from_alias(alias, argument.is_array)
}
