//! Accessors: `getCounter()`, `setCounter(v)`, `getAmount()`, `getResultFromFetch()`. Each is named
//! after the argument, variable, input or output that it reads or writes.

use engine::Scope;
use serde_json::Value;

/// The names from which accessors are made.
#[derive(Default)]
pub(super) struct Names {
    arguments: Vec<String>,
    variables: Vec<String>,
    inputs: Vec<String>,
    outputs: Vec<(String, String)>,
}

impl Names {
    /// The names of a scope.
    pub(super) fn of(scope: &dyn Scope) -> Self {
        Self {
            arguments: scope.arguments().keys().cloned().collect(),
            variables: scope.variable_names(),
            inputs: scope.input_names(),
            outputs: scope.output_names(),
        }
    }
}

/// The target of an accessor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// `get<Name>()` of an argument.
    Argument(String),
    /// `get<Name>()` of a variable.
    Variable(String),
    /// `set<Name>(value)` of a variable.
    SetVariable(String),
    /// `get<Name>()` of an input.
    Input(String),
    /// `get<Output>From<Activity>()`: the activity, then the output.
    Output(String, String),
}

impl Names {
    /// The names of all accessors that these names make.
    pub(super) fn words(&self) -> Vec<String> {
        let variables = self.variables.iter().map(|name| pascal(name));
        let mut words: Vec<String> =
            variables.flat_map(|name| [format!("get{name}"), format!("set{name}")]).collect();
        words.extend(self.arguments.iter().map(|name| format!("get{}", pascal(name))));
        words.extend(self.inputs.iter().map(|name| format!("get{}", pascal(name))));
        words.extend(
            self.outputs
                .iter()
                .map(|(activity, output)| format!("get{}From{}", pascal(output), pascal(activity))),
        );
        words
    }
}

impl Target {
    /// The value; None for an accessor that writes.
    pub(super) fn read(&self, scope: &dyn Scope) -> Option<Value> {
        match self {
            Self::Argument(name) => scope.arguments().get(name).cloned(),
            Self::Variable(name) => Some(scope.variable(name).unwrap_or_default()),
            Self::Input(name) => Some(scope.input(name).unwrap_or_default()),
            Self::Output(activity, output) => {
                Some(scope.output_from(activity, Some(output)).unwrap_or_default())
            }
            Self::SetVariable(_) => None,
        }
    }
}

/// The target of an accessor such as `getCounter`. Of equal names an argument comes before a variable,
/// a variable before an input, and an input before an output.
pub(super) fn find(word: &str, names: &Names) -> Option<Target> {
    if let Some(wanted) = word.strip_prefix("set") {
        return named(&names.variables, wanted).map(Target::SetVariable);
    }
    let wanted = word.strip_prefix("get")?;
    if let Some(name) = named(&names.arguments, wanted) {
        return Some(Target::Argument(name));
    }
    if let Some(name) = named(&names.variables, wanted) {
        return Some(Target::Variable(name));
    }
    if let Some(name) = named(&names.inputs, wanted) {
        return Some(Target::Input(name));
    }
    let (activity, output) = names.outputs.iter().find(|(activity, output)| {
        wanted
            .strip_prefix(&pascal(output))
            .and_then(|rest| rest.strip_prefix("From"))
            .is_some_and(|rest| rest == pascal(activity))
    })?;
    Some(Target::Output(activity.clone(), output.clone()))
}

fn named(names: &[String], wanted: &str) -> Option<String> {
    names.iter().find(|name| pascal(name) == wanted).cloned()
}

/// `order total`, `order_total` and `orderTotal` all become `OrderTotal`.
pub(super) fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = true;
    for c in name.chars() {
        if matches!(c, ' ' | '_' | '-') {
            upper = true;
        } else if upper {
            out.extend(c.to_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_find_what_they_are_named_after() {
        let names = Names {
            arguments: vec!["item".into()],
            variables: vec!["counter".into(), "order total".into(), "Both".into()],
            inputs: vec!["Both".into(), "amount".into()],
            outputs: vec![("HttpCall1".into(), "StatusCode".into())],
        };
        let found = |word: &str| find(word, &names);
        let words = names.words();
        assert_eq!(words.len(), 10);
        assert!(words.iter().all(|word| found(word).is_some()), "{words:?}");
        assert_eq!(found("getItem"), Some(Target::Argument("item".into())));
        assert_eq!(found("setItem"), None);
        assert_eq!(found("getCounter"), Some(Target::Variable("counter".into())));
        assert_eq!(found("setOrderTotal"), Some(Target::SetVariable("order total".into())));
        assert_eq!(found("getBoth"), Some(Target::Variable("Both".into())));
        assert_eq!(found("getAmount"), Some(Target::Input("amount".into())));
        let output = Target::Output("HttpCall1".into(), "StatusCode".into());
        assert_eq!(found("getStatusCodeFromHttpCall1"), Some(output));
        assert_eq!(found("setAmount"), None);
        assert_eq!(found("getNothing"), None);
    }
}
