//! Parses the values of inputs: expressions, bare values and short forms.

use model::{ActivityId, Map, depth, limits};
use serde_json::Value;

use super::elsewhere::language_instead;
use super::findings::Findings;
use crate::convert::{convert, ordinal_fault};
use crate::near::near;
use crate::outline::{Expression, Source};
use crate::property::find;
use crate::{Flaw, Languages, Type};

/// The type of expressions that read a secret.
const SECRET: &str = "Secret";

/// Reads the value of one property of one activity.
pub(super) struct Parser<'p> {
    pub(super) languages: &'p Languages,
    pub(super) findings: &'p mut Findings,
    pub(super) activity: &'p ActivityId,
    pub(super) property: &'p str,
    /// It is a whole number from 1 on.
    pub(super) is_ordinal: bool,
}

impl Parser<'_> {
    /// An input as Elsa writes it, a bare value, or `{js: …}` and `{liquid: …}`.
    pub(super) fn expression(&mut self, value: &Value, ty: &Type) -> Option<Expression> {
        let Some(map) = value.as_object() else { return self.literal(value, ty) };
        if let Some(expression) = find(map, "expression") {
            return match expression {
                Value::Object(expression) => self.typed(expression, ty),
                other => self.literal(other, ty),
            };
        }
        if find(map, "typeName").is_some() || find(map, "memoryReference").is_some() {
            return None;
        }
        if let Some((language, text)) = short_form(map) {
            return self.script(language, text, ty);
        }
        self.misplaced(map, ty);
        self.literal(value, ty)
    }

    /// Names an expression without `expression` around it: it is a value, and would be sent as one.
    /// Where objects are expected it may be meant so; one that looks like a secret is worth a warning.
    fn misplaced(&mut self, map: &Map, ty: &Type) {
        let kind = find(map, "type").and_then(Value::as_str).filter(|_| map.len() == 2);
        let kind = kind.filter(|kind| find(map, "value").is_some() && self.is_kind(kind));
        let Some(kind) = kind else { return };
        let short = short_name(kind);
        let short = short.map(|name| format!(", or {{{name}: …}} in the short form"));
        let message = format!(
            "this is an object with a type and a value, which is used as it is and not evaluated: \
             write {{\"expression\": {{\"type\": \"{kind}\", \"value\": …}}}}{}",
            short.unwrap_or_default()
        );
        let takes_objects = matches!(
            ty,
            Type::Object | Type::Json | Type::List(_) | Type::Dictionary | Type::TextDictionary
        );
        if !takes_objects {
            self.findings.oversight(Some(self.activity), Some(self.property), message);
        } else if kind == SECRET {
            self.warning(Some(message));
        }
    }

    /// Expressions have this type.
    fn is_kind(&self, kind: &str) -> bool {
        let is_plain = ["Literal", "Object", "Json", "Variable", "Input", SECRET].contains(&kind);
        is_plain || self.languages.get(kind).is_some() || language_instead(kind).is_some()
    }

    /// `{"type": …, "value": …}`
    pub(super) fn typed(&mut self, expression: &Map, ty: &Type) -> Option<Expression> {
        let kind = find(expression, "type").and_then(Value::as_str).unwrap_or("Literal");
        let value = find(expression, "value").unwrap_or(&Value::Null);
        match kind {
            "Literal" => self.literal(value, ty),
            "Object" | "Json" => self.object(value, ty),
            "Variable" => {
                let (id, name) = (named(value, "id"), named(value, "name"));
                let id = id.or_else(|| name.clone())?;
                let name = name.unwrap_or_else(|| id.clone());
                self.names_variable(&id, &name);
                Some(Expression(Source::Variable { id, name }))
            }
            "Input" => {
                let name = named(value, "name")?;
                self.warning(self.findings.visible.missing_input(&name));
                Some(Expression(Source::Input(name)))
            }
            language => match value {
                Value::String(text) => self.script(language, text, ty),
                Value::Null => None,
                other => self.script(language, &other.to_string(), ty),
            },
        }
    }

    pub(super) fn literal(&mut self, value: &Value, ty: &Type) -> Option<Expression> {
        if value.is_null() {
            return None;
        }
        if let (Type::Script(language), Value::String(text)) = (ty, value) {
            self.checked(language, text);
        }
        let fit = depth::check(value).map_err(|error| error.to_string());
        match fit.and_then(|()| convert(value.clone(), ty)) {
            Ok(read) => {
                if self.is_ordinal {
                    self.refuse_unless_ordinal(value, &read);
                }
                (!read.is_null()).then_some(Expression(Source::Literal(read)))
            }
            Err(message) => {
                self.problem(message);
                None
            }
        }
    }

    /// Refuses a number below 1. One that is not whole, and what is no number, such as a text, is refused
    /// where a definition is published: those that were published before go on with it as it is read.
    fn refuse_unless_ordinal(&mut self, written: &Value, read: &Value) {
        let is_below = !read.is_null() && read.as_i64().is_none_or(|number| number < 1);
        let Some(message) = ordinal_fault(written) else { return };
        if is_below {
            self.problem(message);
        } else {
            self.findings.oversight(Some(self.activity), Some(self.property), message);
        }
    }

    fn object(&mut self, value: &Value, ty: &Type) -> Option<Expression> {
        let Value::String(text) = value else { return self.literal(value, ty) };
        if text.trim().is_empty() {
            return None;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(parsed) => self.literal(&parsed, ty),
            Err(error) => {
                let message = format!("the Object expression is not JSON: {error}");
                self.problem(message);
                None
            }
        }
    }

    fn script(&mut self, language: &str, text: &str, ty: &Type) -> Option<Expression> {
        if let Type::Script(own) = ty
            && own.eq_ignore_ascii_case(language)
        {
            return self.literal(&Value::from(text), ty);
        }
        let name = self.checked(language, text)?;
        Some(Expression(Source::Script { language: name.to_owned(), text: text.to_owned() }))
    }

    /// Checks a script; returns the language's own name if there is such a language.
    fn checked(&mut self, language: &str, text: &str) -> Option<&'static str> {
        self.findings.has_scripts = true;
        let Some(found) = self.languages.get(language) else {
            let message = self.unknown(language);
            self.problem(message);
            return None;
        };
        let flaw = if text.len() > limits::EXPRESSION_BYTES_MAX {
            Some(format!("the script is longer than {} bytes", limits::EXPRESSION_BYTES_MAX))
        } else {
            found.check(text).err().as_ref().map(Flaw::placed)
        };
        if let Some(message) = flaw {
            self.problem(message);
            return None;
        }
        if self.findings.warns() {
            let mentions = found.mentions(text);
            let visible = &self.findings.visible;
            let variables = mentions.variables.iter().map(|name| visible.missing_variable(name));
            let inputs = mentions.inputs.iter().map(|name| visible.missing_in_script(name));
            let missing: Vec<_> = variables.chain(inputs).collect();
            missing.into_iter().for_each(|message| self.warning(message));
        }
        Some(found.name())
    }

    fn names_variable(&mut self, id: &str, name: &str) {
        if !self.findings.visible.has_variable(id) {
            self.warning(self.findings.visible.missing_variable(name));
        }
    }

    fn warning(&mut self, message: Option<String>) {
        if let Some(message) = message {
            self.findings.warning(Some(self.activity), Some(self.property), message);
        }
    }

    fn problem(&mut self, message: String) {
        self.findings.problem(Some(self.activity), Some(self.property), message);
    }

    fn unknown(&self, language: &str) -> String {
        let mut names = vec!["Literal", "Object", "Variable", "Input"];
        names.extend(self.languages.names());
        let names = names.join(", ");
        match language_instead(language) {
            Some(advice) => format!("Staunch does not run {language} expressions: {advice}"),
            None => format!("there is no expression type {language}: use one of {names}"),
        }
    }
}

/// `{js: "…"}`, `{liquid: "…"}`, `{sql: "…"}`, also a language that is not run here, and nothing else.
fn short_form(map: &Map) -> Option<(&'static str, &str)> {
    let (key, value) = map.iter().next().filter(|_| map.len() == 1)?;
    Some((short_language(key)?, value.as_str()?))
}

/// What names expressions of this type in the short form.
fn short_name(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "JavaScript" => "js",
        "Liquid" => "liquid",
        "Sql" => "sql",
        "Variable" => "variable",
        "Input" => "input",
        SECRET => "secret",
        _ => return None,
    })
}

/// The language that the only member of an object names, in any case: one that is not run here too.
#[must_use]
pub fn short_language(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "js" | "javascript" => "JavaScript",
        "liquid" => "Liquid",
        "sql" => "Sql",
        "csharp" | "c#" => "CSharp",
        "python" => "Python",
        _ => return None,
    })
}

/// The short name of the language that a misspelled name probably means.
#[must_use]
pub fn near_language(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 4] =
        [("javascript", "js"), ("liquid", "liquid"), ("python", "python"), ("csharp", "csharp")];
    const CHARS_MAX: usize = 16;
    let name = name.to_ascii_lowercase();
    if ["ts", "typescript", "jscript", "ecmascript"].contains(&name.as_str()) {
        return Some("js");
    }
    if name.len() > CHARS_MAX || short_language(&name).is_some() {
        return None;
    }
    let names = NAMES.into_iter().map(|(long, short)| (long.to_owned(), short));
    near(&name, names).first().copied()
}

/// A member of an object, or the text itself.
fn named(value: &Value, member: &str) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Object(map) => find(map, member)?.as_str().map(str::to_owned),
        _ => None,
    }
}
