//! Values, variables, inputs and outputs.

use model::Map;
use serde_json::{Value, json};

use super::Shortening;
use crate::expand::{Expansion, FULL, type_of};
use crate::tree::Tree;

impl Shortening<'_> {
    /// A value of an input of this type.
    pub(super) fn value(&self, full: &Value, type_name: &str) -> Value {
        let expression = full.get("expression");
        self.checked(full, expression, |expansion, short| expansion.value(short, type_name).value())
    }

    /// A condition: `{"type": …, "value": …}`.
    pub(super) fn typed(&self, full: &Value) -> Value {
        self.checked(full, Some(full), |expansion, short| expansion.typed(short).value())
    }

    fn checked(
        &self,
        full: &Value,
        expression: Option<&Value>,
        expand: impl Fn(&mut Expansion<'_>, &Tree) -> Value,
    ) -> Value {
        let candidates = expression.map(|it| self.candidates(it)).unwrap_or_default();
        let is_it = |short: &Value| {
            let mut expansion = self.expansion();
            expand(&mut expansion, &Tree::of(short)) == *full && expansion.flaws.is_empty()
        };
        candidates.into_iter().find(is_it).unwrap_or_else(|| full.clone())
    }

    /// Short forms that may mean the expression, the shortest first.
    fn candidates(&self, expression: &Value) -> Vec<Value> {
        let kind = expression.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some(value) = expression.get("value") else { return Vec::new() };
        let named = |member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
        match kind {
            "Literal" => vec![value.clone(), json!({"literal": value})],
            "Object" => {
                let data = value.as_str().and_then(|text| serde_json::from_str(text).ok());
                let data: Option<Value> = data;
                data.into_iter().chain([json!({"object": value})]).collect()
            }
            "JavaScript" if value.is_string() => vec![json!({"js": value})],
            "Liquid" if value.is_string() => vec![json!({"liquid": value})],
            "Sql" if value.is_string() => vec![json!({"sql": value})],
            "Secret" => vec![json!({"secret": value})],
            "Variable" => {
                let name = self.variable_name(value).map(|name| json!({"variable": name}));
                name.into_iter().chain([json!({"variable": value})]).collect()
            }
            "Input" => {
                let name = named("name").map(|name| json!({"input": name}));
                name.into_iter().chain([json!({"input": value})]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The name of a variable that is written with all members of its declaration.
    pub(super) fn variable_name<'f>(&self, full: &'f Value) -> Option<&'f str> {
        let name = full.get("name").and_then(Value::as_str)?;
        let is_whole = self.scope.named(name).is_none_or(|declared| {
            declared.rest.iter().all(|(member, value)| full.get(member) == Some(value))
        });
        is_whole.then_some(name)
    }

    pub(super) fn variables(&self, full: &Value) -> Value {
        let short = by_name(full, |variable, rest| {
            if variable.get("id") == variable.get("name") {
                rest.shift_remove("id");
            }
            if variable.get("isArray") == Some(&Value::Bool(false)) {
                rest.shift_remove("isArray");
            }
            let inferred = type_of(variable.get("value"));
            match rest.shift_remove("typeName") {
                Some(name) if name.as_str() == Some(inferred) => {}
                Some(name) => {
                    rest.shift_insert(0, "type".to_owned(), name);
                }
                None => {}
            }
            match rest.get("value") {
                Some(plain @ (Value::String(_) | Value::Bool(_) | Value::Number(_)))
                    if rest.len() == 1 =>
                {
                    plain.clone()
                }
                _ => Value::Object(rest.clone()),
            }
        });
        self.equal(short, full, |expansion, short| expansion.variables(short))
    }

    pub(super) fn arguments(&self, full: &Value) -> Value {
        let short = by_name(full, |argument, rest| {
            if argument.get("isArray") == Some(&Value::Bool(false)) {
                rest.shift_remove("isArray");
            }
            match rest.get("type") {
                Some(name @ Value::String(_)) if rest.len() == 1 => name.clone(),
                _ => Value::Object(rest.clone()),
            }
        });
        self.equal(short, full, |expansion, short| expansion.arguments(short))
    }

    fn equal(
        &self,
        short: Option<Value>,
        full: &Value,
        expand: impl Fn(&mut Expansion<'_>, &Tree) -> Tree,
    ) -> Value {
        let Some(short) = short else { return full.clone() };
        let mut expansion = self.expansion();
        let back = expand(&mut expansion, &Tree::of(&short)).value();
        if expansion.flaws.is_empty() && back == *full { short } else { full.clone() }
    }
}

/// A list of objects with names as an object by these names; none if names are missing or repeat.
/// A part that cannot be shortened is kept in `{full: …}`.
fn by_name(full: &Value, shorten: impl Fn(&Map, &mut Map) -> Value) -> Option<Value> {
    let mut short = Map::new();
    let items = full.as_array().filter(|items| !items.is_empty())?;
    for item in items {
        let item = item.as_object()?;
        let name = item.get("name").and_then(Value::as_str)?;
        let mut rest = item.clone();
        rest.shift_remove("name");
        let has_type = item.contains_key("typeName") || item.contains_key("type");
        let value = if has_type && item.contains_key("isArray") {
            shorten(item, &mut rest)
        } else {
            json!({FULL: item})
        };
        if short.insert(name.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(Value::Object(short))
}
