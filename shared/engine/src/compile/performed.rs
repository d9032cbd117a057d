//! Compiles an activity of a type that workers perform.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::activity_type::{Mode, VERSION_MAX, short_name};
use model::{ActivityId, ActivityType, Map, Retry, span};
use serde_json::Value;

use super::Compiler;
use super::raw::{bound, custom_properties};
use crate::convert::shown;
use crate::library::version;
use crate::outline::{Expression, Node, NodeRef, Outcomes, Performed, RetryPolicy, Source, Used};
use crate::property::find;
use crate::registry::Registered;
use crate::schema::Schema;
use crate::{Descriptor, Type};

/// The custom property with the longest wait for the result.
const TIMEOUT: &str = "timeout";

impl Compiler<'_> {
    /// The type of an activity, if workers perform it.
    pub(super) fn type_of_worker(&self, raw: &Map, name: &str) -> Option<Arc<ActivityType>> {
        self.library.type_of_worker(&self.scope.types, name, version(raw))
    }

    /// Compiles an activity of this type.
    pub(super) fn performed(
        &mut self,
        raw: &Map,
        kind: &ActivityType,
        owner_path: &str,
        depth: usize,
    ) -> Option<NodeRef> {
        let Registered { descriptor, activity } = self.registry.performed.clone()?;
        let (id, path) = self.place(raw, short_name(&kind.type_name), owner_path, depth)?;
        // A file may have brought the document along.
        for flaw in kind.flaws() {
            let message = format!("the activity type {} cannot be used: {flaw}", kind.label());
            self.findings.problem(Some(&id), Some("type"), message);
        }
        for flaw in kind.oversights() {
            let message = format!("the activity type {} cannot be used: {flaw}", kind.label());
            self.findings.oversight(Some(&id), Some("type"), message);
        }
        self.refuse_version(&id, raw);
        let custom = custom_properties(raw);
        let (inputs, outputs) = (kind.inputs(), kind.outputs());
        let what = format!("the activity type {}", kind.type_name);
        self.warn_of_members_of(&id, raw, &what, inputs.iter().chain(&outputs));
        let given = self.given(&id, raw, &inputs);
        let is_input = |name: &str| inputs.iter().any(|it| it.name.eq_ignore_ascii_case(name));
        self.refuse_outputs(&id, raw, outputs.iter().map(|it| it.name.as_str()), is_input);
        let performed = Performed {
            input: self.schema(&id, "input", &kind.input),
            output: self.schema(&id, "output", &kind.output),
            timeout: self.longest_wait(&id, kind, &custom),
            kind: kind.clone(),
        };
        self.check_literals(&id, &performed.input, &given);
        let bindings =
            outputs.iter().filter_map(|it| Some((it.name.clone(), bound(find(raw, &it.name)?)?)));
        let bindings: Vec<_> = bindings.collect();
        self.warn_of_bindings(&id, &bindings);
        let keeping = self.keeping(&id, &custom);
        let retry = self.retry_of(&id, kind, &custom, &descriptor);
        let used = Used {
            type_name: kind.type_name.clone(),
            version: kind.version,
            inputs,
            outputs,
            outcomes: Some(Outcomes { names: kind.outcomes(), is_all: true }),
            given,
            performed: Some(performed),
        };
        let node = Node {
            name: find(raw, "name").and_then(Value::as_str).map(str::to_owned),
            bindings: bindings.into_iter().map(|found| self.binding(found)).collect(),
            children: BTreeMap::new(),
            key: String::new(),
            connected: Vec::new(),
            named_outcomes: None,
            is_first: false,
            plan: None,
            id,
            path,
            scope: Arc::clone(&self.scope.path),
            used: Some(Box::new(used)),
            descriptor,
            can_start: false,
            keeping,
            custom,
            variables: Vec::new(),
            inputs: BTreeMap::new(),
            retry,
        };
        Some(self.planned(activity, node, raw, &BTreeMap::new()))
    }

    /// Refuses a version that is no whole number, where a definition is published: the newest one is meant
    /// by those that were published with it.
    fn refuse_version(&mut self, id: &ActivityId, raw: &Map) {
        let written = find(raw, "version").filter(|written| !written.is_null());
        if let Some(written) = written
            && version(raw).is_none()
        {
            let message =
                format!("{} is not a whole number from 1 to {VERSION_MAX}", shown(written));
            self.findings.oversight(Some(id), Some("version"), message);
        }
    }

    fn schema(&mut self, id: &ActivityId, which: &str, schema: &Map) -> Schema {
        Schema::new(schema).unwrap_or_else(|error| {
            let message = format!("the {which} schema of its type cannot be used: {error}");
            self.findings.problem(Some(id), Some("type"), message);
            Schema::default()
        })
    }

    /// Refuses values that are written out and do not fit the schema.
    fn check_literals(
        &mut self,
        id: &ActivityId,
        schema: &Schema,
        given: &BTreeMap<String, (Expression, Type)>,
    ) {
        let literal = |(name, (expression, _)): (&String, &(Expression, Type))| match &expression.0
        {
            Source::Literal(value) if !value.is_null() => Some((name.clone(), value.clone())),
            _ => None,
        };
        let literals: Map = given.iter().filter_map(literal).collect();
        for (place, flaw) in schema.flaws(&Value::Object(literals.clone())) {
            let name = place.split('/').nth(1).unwrap_or_default();
            // What is missing may be computed; what is required and missing is known already.
            if literals.contains_key(name) {
                self.findings.oversight(Some(id), Some(name), flaw);
            }
        }
    }

    /// The longest wait for the result: of the activity, or of its type.
    fn longest_wait(
        &mut self,
        id: &ActivityId,
        kind: &ActivityType,
        custom: &Map,
    ) -> Option<Duration> {
        let own = custom.get(TIMEOUT).filter(|value| !value.is_null());
        let text = match own {
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
            None => kind.timeout.clone(),
        };
        match text.as_deref().map(span::parse) {
            None => None,
            Some(Ok(span)) => Some(span),
            Some(Err(reason)) => {
                self.findings.problem(Some(id), Some(TIMEOUT), reason);
                None
            }
        }
    }

    /// The retries: of the activity, of its type, or those that requests have.
    fn retry_of(
        &mut self,
        id: &ActivityId,
        kind: &ActivityType,
        custom: &Map,
        descriptor: &Descriptor,
    ) -> Option<RetryPolicy> {
        let own = self.retry(id, custom, descriptor);
        let of_type = || match (&kind.retry, kind.mode) {
            (Some(retry), _) => Retry::read(retry).ok(),
            (None, Mode::Request) => Some(Retry::of_requests()),
            (None, Mode::Task) => None,
        };
        own.or_else(|| of_type().map(|retry| RetryPolicy::Fixed(Box::new(retry))))
    }
}
