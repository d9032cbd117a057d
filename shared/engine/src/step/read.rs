//! Inputs: evaluated when they are asked for, and converted to their declared types.

use std::time::Duration;

use model::{Map, Timestamp};
use serde_json::Value;

use super::Step;
use crate::Type;
use crate::convert::{convert, ordinal_fault, to_span, to_time};
use crate::decision::Failure;
use crate::outline::{Expression, NOT_SHOWN, Node, NodeRef, Source, fit};

impl Step<'_, '_> {
    /// An input, converted to its declared type. Its default if it has no value; null if there is
    /// no default.
    ///
    /// # Errors
    /// [`Failure`] when a script fails, or its value cannot be converted.
    pub fn value(&mut self, input: &str) -> Result<Value, Failure> {
        self.value_at(self.node, input)
    }

    /// As [`Step::value`], with arguments for this evaluation alone: scripts read them as
    /// `args.<name>` and `get<Name>()`.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn value_with(&mut self, input: &str, arguments: Map) -> Result<Value, Failure> {
        self.arguments = arguments;
        let value = self.value(input);
        self.arguments = Map::new();
        value
    }

    /// As [`Step::value`], for an input that may be a file: bytes that a script computes are one, and
    /// so are bytes in a list.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn content(&mut self, input: &str) -> Result<Value, Failure> {
        self.takes_files = true;
        let value = self.value(input);
        self.takes_files = false;
        value
    }

    /// An input of a child, evaluated in this execution: for a container that needs it before it
    /// runs the child.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn value_of(&mut self, child: NodeRef, input: &str) -> Result<Value, Failure> {
        self.value_at(self.draft.outline.node(child), input)
    }

    fn value_at(&mut self, node: &Node, input: &str) -> Result<Value, Failure> {
        let declared = node.descriptor.inputs.iter().find(|declared| declared.name == input);
        let Some(declared) = declared else { return Ok(Value::Null) };
        let expression = node.inputs.get(declared.name);
        let reads = self.hidden_reads.get();
        let value = match expression {
            Some(expression) if declared.is_ordinal => {
                self.ordinal(input, expression, &declared.ty)?
            }
            Some(expression) => self.evaluate(input, expression, &declared.ty)?,
            None => Value::Null,
        };
        let is_default = value.is_null();
        let value = if is_default {
            let default = declared.default_value.clone();
            convert(default, &declared.ty).map_err(|error| Failure::input(input, error))?
        } else {
            value
        };
        let is_computed = expression.is_some_and(|found| !found.is_literal());
        if is_computed && std::ptr::eq(node, self.node) && reads == self.hidden_reads.get() {
            self.keep_input(declared.name, &value);
        }
        Ok(value)
    }

    /// A whole number from 1 on, which is not rounded to one. The compiler has judged literal ones.
    fn ordinal(
        &mut self,
        input: &str,
        expression: &Expression,
        ty: &Type,
    ) -> Result<Value, Failure> {
        if expression.is_literal() {
            return self.evaluate(input, expression, ty);
        }
        let value = self.evaluate(input, expression, &Type::Object)?;
        let fault = Some(&value).filter(|value| !value.is_null()).and_then(ordinal_fault);
        let is_hidden = self.hidden_reads.get() > 0;
        match fault {
            Some(_) if is_hidden => Err(Failure::input(input, NOT_SHOWN)),
            Some(fault) => Err(Failure::input(input, fault)),
            None => fit(value, ty, is_hidden).map_err(|error| Failure::input(input, error)),
        }
    }

    /// A text input; none when it is null or empty.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn text(&mut self, input: &str) -> Result<Option<String>, Failure> {
        match self.value(input)? {
            Value::String(text) if !text.is_empty() => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    /// A text input that must have a value.
    ///
    /// # Errors
    /// As [`Step::value`], and when it is blank.
    pub fn required(&mut self, input: &str) -> Result<String, Failure> {
        match self.text(input)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(Failure::input(input, "there is no value: give one")),
        }
    }

    /// A true or false input; false when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn flag(&mut self, input: &str) -> Result<bool, Failure> {
        Ok(self.value(input)?.as_bool().unwrap_or_default())
    }

    /// A whole number; none when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn integer(&mut self, input: &str) -> Result<Option<i64>, Failure> {
        Ok(self.value(input)?.as_i64())
    }

    /// A duration; none when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn span(&mut self, input: &str) -> Result<Option<Duration>, Failure> {
        Ok(to_span(&self.value(input)?))
    }

    /// An instant; none when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn time(&mut self, input: &str) -> Result<Option<Timestamp>, Failure> {
        Ok(to_time(&self.value(input)?))
    }

    /// A list; empty when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn list(&mut self, input: &str) -> Result<Vec<Value>, Failure> {
        match self.value(input)? {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    /// A list of text; empty when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn texts(&mut self, input: &str) -> Result<Vec<String>, Failure> {
        let items = self.list(input)?;
        Ok(items.into_iter().map(crate::convert::text_of).collect())
    }

    /// A JSON object; empty when it is null.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn object(&mut self, input: &str) -> Result<Map, Failure> {
        match self.value(input)? {
            Value::Object(map) => Ok(map),
            _ => Ok(Map::new()),
        }
    }

    /// The value of an expression that the activity parsed when it was planned; `property` names
    /// it in messages.
    ///
    /// # Errors
    /// As [`Step::value`].
    pub fn evaluate(
        &mut self,
        property: &str,
        expression: &Expression,
        ty: &Type,
    ) -> Result<Value, Failure> {
        let value = match &expression.0 {
            Source::Literal(value) => return Ok(value.clone()),
            Source::Variable { id, name } => self.variable_value(id, name),
            Source::Input(name) => self.workflow_input(name).unwrap_or_default(),
            Source::Script { language, text } => self.scripted(property, language, text)?,
        };
        if let Some(reason) = self.why_unreadable() {
            return Err(Failure::input(property, reason));
        }
        let is_hidden = self.hidden_reads.get() > 0;
        fit(value, ty, is_hidden).map_err(|error| Failure::input(property, error))
    }

    /// Runs a script that may set outcomes; returns its value and the outcomes it set.
    ///
    /// # Errors
    /// [`Failure`] when there is no such language, or the script fails.
    pub fn run_script(
        &mut self,
        language: &str,
        source: &str,
    ) -> Result<(Value, Option<Vec<String>>), Failure> {
        self.takes_outcomes = true;
        let value = self.scripted("script", language, source)?;
        self.takes_outcomes = false;
        Ok((value, self.outcomes.take()))
    }

    /// The value of a script; `property` names it in messages.
    ///
    /// # Errors
    /// [`Failure`] when there is no such language, or the script fails.
    pub fn scripted(
        &mut self,
        property: &str,
        language: &str,
        source: &str,
    ) -> Result<Value, Failure> {
        let languages = self.draft.languages;
        let failed = |message: String| {
            Failure::new("ExpressionFailed", format!("{property}: {message}"))
                .in_category("Expression")
        };
        let Some(found) = languages.get(language) else {
            return Err(failed(format!("there is no expression type {language}")));
        };
        self.begin_reading(source, !found.keeps_sealed());
        let end = found.evaluate(source, self);
        let value = self.end_reading(end).map_err(|flaw| failed(flaw.placed()));
        let set = self.flaw.take();
        let value = value?;
        match set {
            Some(flaw) => Err(flaw),
            None => Ok(value),
        }
    }

    fn variable_value(&self, id: &str, name: &str) -> Value {
        let place = self.place_by_id(id).or_else(|| self.place_by_name(name));
        self.whole(place.and_then(|place| self.at(&place)).unwrap_or_default())
    }
}
