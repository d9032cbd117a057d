//! Parses the values of inputs: expressions, bare values and short forms.

use std::collections::BTreeMap;

use model::{ActivityId, Map, depth, limits};
use serde_json::Value;

use super::{Compiler, find};
use crate::convert::convert;
use crate::program::{Expression, Source};
use crate::registry::Registered;
use crate::{Flaw, Type};

/// Expression types that Elsa has and Staunch refuses.
const REFUSED: [&str; 4] = ["CSharp", "C#", "Python", "Delegate"];

/// The place of an expression, for problems.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) activity: &'a ActivityId,
    pub(super) property: &'a str,
}

impl Compiler<'_> {
    pub(super) fn inputs(
        &mut self,
        id: &ActivityId,
        raw: &Map,
        kind: &Registered,
    ) -> BTreeMap<&'static str, Expression> {
        let mut inputs = BTreeMap::new();
        for input in &kind.descriptor.inputs {
            let Some(value) = find(raw, input.name) else { continue };
            let at = At { activity: id, property: input.name };
            let expression = if input.is_wrapped {
                self.expression(at, value, &input.ty)
            } else {
                self.literal(at, value, &input.ty)
            };
            if let Some(expression) = expression {
                inputs.insert(input.name, expression);
            }
        }
        inputs
    }

    /// An input as Elsa writes it, a bare value, or `{js: …}` and `{liquid: …}`.
    pub(super) fn expression(
        &mut self,
        at: At<'_>,
        value: &Value,
        ty: &Type,
    ) -> Option<Expression> {
        let Some(map) = value.as_object() else { return self.literal(at, value, ty) };
        if let Some(expression) = find(map, "expression") {
            return match expression {
                Value::Object(expression) => self.typed(at, expression, ty),
                other => self.literal(at, other, ty),
            };
        }
        if find(map, "typeName").is_some() || find(map, "memoryReference").is_some() {
            return None;
        }
        match short_form(map) {
            Some((language, text)) => self.script(at, language, text, ty),
            None => self.literal(at, value, ty),
        }
    }

    /// `{"type": …, "value": …}`
    pub(super) fn typed(&mut self, at: At<'_>, expression: &Map, ty: &Type) -> Option<Expression> {
        let kind = find(expression, "type").and_then(Value::as_str).unwrap_or("Literal");
        let value = find(expression, "value").unwrap_or(&Value::Null);
        match kind {
            "Literal" => self.literal(at, value, ty),
            "Object" | "Json" => self.object(at, value, ty),
            "Variable" => {
                let (id, name) = (named(value, "id"), named(value, "name"));
                let id = id.or_else(|| name.clone())?;
                let name = name.unwrap_or_else(|| id.clone());
                Some(Expression(Source::Variable { id, name }))
            }
            "Input" => Some(Expression(Source::Input(named(value, "name")?))),
            language => match value {
                Value::String(text) => self.script(at, language, text, ty),
                Value::Null => None,
                other => self.script(at, language, &other.to_string(), ty),
            },
        }
    }

    fn literal(&mut self, at: At<'_>, value: &Value, ty: &Type) -> Option<Expression> {
        if value.is_null() {
            return None;
        }
        if let (Type::Script(language), Value::String(text)) = (ty, value) {
            self.checked(at, language, text);
        }
        let fit = depth::check(value).map_err(|error| error.to_string());
        match fit.and_then(|()| convert(value.clone(), ty)) {
            Ok(Value::Null) => None,
            Ok(value) => Some(Expression(Source::Literal(value))),
            Err(message) => {
                self.problem(Some(at.activity), Some(at.property), message);
                None
            }
        }
    }

    fn object(&mut self, at: At<'_>, value: &Value, ty: &Type) -> Option<Expression> {
        let Value::String(text) = value else { return self.literal(at, value, ty) };
        if text.trim().is_empty() {
            return None;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(parsed) => self.literal(at, &parsed, ty),
            Err(error) => {
                let message = format!("the Object expression is not JSON: {error}");
                self.problem(Some(at.activity), Some(at.property), message);
                None
            }
        }
    }

    fn script(&mut self, at: At<'_>, language: &str, text: &str, ty: &Type) -> Option<Expression> {
        if let Type::Script(own) = ty
            && own.eq_ignore_ascii_case(language)
        {
            return self.literal(at, &Value::from(text), ty);
        }
        let name = self.checked(at, language, text)?;
        Some(Expression(Source::Script { language: name.to_owned(), text: text.to_owned() }))
    }

    /// Checks a script; returns the language's own name if there is such a language.
    fn checked(&mut self, at: At<'_>, language: &str, text: &str) -> Option<&'static str> {
        self.has_scripts = true;
        let Some(found) = self.languages.get(language) else {
            let message = self.unknown(language);
            self.problem(Some(at.activity), Some(at.property), message);
            return None;
        };
        let flaw = if text.len() > limits::EXPRESSION_BYTES_MAX {
            Some(format!("the script is longer than {} bytes", limits::EXPRESSION_BYTES_MAX))
        } else {
            found.check(text).err().as_ref().map(placed)
        };
        if let Some(message) = flaw {
            self.problem(Some(at.activity), Some(at.property), message);
            return None;
        }
        Some(found.name())
    }

    fn unknown(&self, language: &str) -> String {
        let mut names = vec!["Literal", "Object", "Variable", "Input"];
        names.extend(self.languages.names());
        let names = names.join(", ");
        if REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(language)) {
            format!("Staunch does not run {language} expressions: use one of {names}")
        } else {
            format!("there is no expression type {language}: use one of {names}")
        }
    }
}

/// The message of a flaw, with line and column if they are known.
pub(crate) fn placed(flaw: &Flaw) -> String {
    match (flaw.line, flaw.column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: {}", flaw.message),
        (Some(line), None) => format!("line {line}: {}", flaw.message),
        _ => flaw.message.clone(),
    }
}

/// `{js: "…"}`, `{javascript: "…"}` or `{liquid: "…"}`, and nothing else.
fn short_form(map: &Map) -> Option<(&'static str, &str)> {
    let (key, value) = map.iter().next().filter(|_| map.len() == 1)?;
    let language = match key.to_ascii_lowercase().as_str() {
        "js" | "javascript" => "JavaScript",
        "liquid" => "Liquid",
        _ => return None,
    };
    Some((language, value.as_str()?))
}

/// A member of an object, or the text itself.
fn named(value: &Value, member: &str) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Object(map) => find(map, member)?.as_str().map(str::to_owned),
        _ => None,
    }
}
