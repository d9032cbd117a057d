//! The environment of a script: Elsa's functions, put into a fresh context if the text mentions
//! them.

mod library;
mod vendored;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rquickjs::function::{IntoJsFunc, Opt};
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};

use super::accessor::Target;
use super::plan::Plan;
use super::session::{Facts, Question, Shared, URLS_MAX};
use super::{convert, lifetime};

/// The variables of a context.
pub(super) struct Variables<'js> {
    object: Object<'js>,
    /// Set when some variables are read on first use: returns those that were read or set.
    touched: Option<Function<'js>>,
}

impl<'js> Variables<'js> {
    /// An object with the variables that the script may have changed.
    pub(super) fn touched(&self) -> Result<Object<'js>> {
        match &self.touched {
            Some(touched) => touched.call(()),
            None => Ok(self.object.clone()),
        }
    }
}

/// Puts the functions and variables that the text mentions into the context.
pub(super) fn install<'js>(
    ctx: &Ctx<'js>,
    plan: &Plan,
    facts: &Facts,
    session: &Shared,
) -> Result<Variables<'js>> {
    let host = Host { ctx, plan, facts, session, globals: ctx.globals() };
    host.workflow()?;
    host.outcomes()?;
    host.outputs()?;
    host.inputs()?;
    host.config()?;
    host.secrets()?;
    host.library()?;
    host.vendored()?;
    let variables = host.variables()?;
    host.accessors()?;
    Ok(variables)
}

struct Host<'a, 'js> {
    ctx: &'a Ctx<'js>,
    plan: &'a Plan,
    facts: &'a Facts,
    session: &'a Shared,
    globals: Object<'js>,
}

impl<'js> Host<'_, 'js> {
    fn add<P, F: IntoJsFunc<'js, P> + 'js>(&self, name: &str, function: F) -> Result<()> {
        if self.plan.mentions(name) {
            let function = Function::new(self.ctx.clone(), function)?.with_name(name)?;
            self.globals.set(name, function)?;
        }
        Ok(())
    }

    /// Keeps an object where our functions find it and scripts do not.
    fn keep(&self, name: &str, object: &Object<'js>) -> Result<()> {
        self.globals.prop(name, Property::from(object.clone()))
    }

    fn prelude(&self, source: &'static str) -> Result<Function<'js>> {
        let mut options = rquickjs::context::EvalOptions::default();
        options.filename = Some("staunch".to_owned());
        options.strict = false;
        self.ctx.eval_with_options(source, options)
    }

    fn workflow(&self) -> Result<()> {
        let identity = &self.facts.identity;
        let id = identity.definition_id.clone();
        self.add("getWorkflowDefinitionId", move || id.clone())?;
        let id = identity.version_id.clone();
        self.add("getWorkflowDefinitionVersionId", move || id.clone())?;
        let version = identity.version;
        self.add("getWorkflowDefinitionVersion", move || version)?;
        let id = identity.instance_id.clone();
        self.add("getWorkflowInstanceId", move || id.clone())?;

        let (session, first) = (Rc::clone(self.session), identity.correlation_id.clone());
        self.add("getCorrelationId", move |ctx: Ctx<'js>| {
            let session = session.borrow();
            nullable(&ctx, session.changes.correlation_id.as_ref().unwrap_or(&first).as_deref())
        })?;
        let session = Rc::clone(self.session);
        self.add("setCorrelationId", move |value: Opt<Value<'js>>| -> Result<()> {
            let value = text(value)?;
            session.borrow_mut().changes.correlation_id = Some(value);
            Ok(())
        })?;
        let (session, first) = (Rc::clone(self.session), identity.instance_name.clone());
        self.add("getWorkflowInstanceName", move |ctx: Ctx<'js>| {
            let session = session.borrow();
            nullable(&ctx, session.changes.instance_name.as_ref().unwrap_or(&first).as_deref())
        })?;
        let session = Rc::clone(self.session);
        self.add("setWorkflowInstanceName", move |value: Opt<Value<'js>>| -> Result<()> {
            let value = text(value)?;
            session.borrow_mut().changes.instance_name = Some(value);
            Ok(())
        })
    }

    fn outcomes(&self) -> Result<()> {
        let session = Rc::clone(self.session);
        self.add("setOutcome", move |name: Coerced<String>| {
            session.borrow_mut().changes.outcomes = Some(vec![name.0]);
        })?;
        let session = Rc::clone(self.session);
        self.add("setOutcomes", move |names: Vec<Coerced<String>>| {
            let names = names.into_iter().map(|name| name.0).collect();
            session.borrow_mut().changes.outcomes = Some(names);
        })
    }

    fn outputs(&self) -> Result<()> {
        let session = Rc::clone(self.session);
        self.add(
            "getOutputFrom",
            move |ctx: Ctx<'js>, activity: Coerced<String>, output: Opt<Value<'js>>| {
                let question = Question::Output(activity.0, text(output)?);
                value_of(&ctx, asked(&ctx, &session, question)?)
            },
        )?;
        if self.plan.mentions("getLastResult") {
            self.kept()?;
        }
        let session = Rc::clone(self.session);
        self.add("getLastResult", move |ctx: Ctx<'js>| {
            kept(&ctx, &session, "last", || Question::LastResult)
        })?;
        self.url("createEventTriggerUrl", Question::EventUrl)?;
        self.url("createBookmarkTriggerUrl", Question::ActivityUrl)
    }

    /// A function that makes a URL for what its first argument names.
    fn url(&self, name: &str, question: fn(String, Option<Duration>) -> Question) -> Result<()> {
        let (session, now) = (Rc::clone(self.session), self.facts.now);
        self.add(name, move |ctx: Ctx<'js>, of: Coerced<String>, lifetime: Opt<Value<'js>>| {
            let lifetime = lifetime::read(&ctx, lifetime.0, now)?;
            let urls = session.borrow().urls;
            if urls >= URLS_MAX {
                let message = format!("a script may create no more than {URLS_MAX} URLs");
                return Err(Exception::throw_range(&ctx, &message));
            }
            session.borrow_mut().urls = urls + 1;
            text_of(&ctx, asked(&ctx, &session, question(of.0, lifetime))?)
        })
    }

    fn inputs(&self) -> Result<()> {
        if self.plan.mentions("getInput") {
            self.kept()?;
        }
        let session = Rc::clone(self.session);
        self.add("getInput", move |ctx: Ctx<'js>, name: Coerced<String>| {
            let name = name.0;
            kept(&ctx, &session, &format!("input {name}"), || Question::Input(name.clone()))
        })
    }

    fn secrets(&self) -> Result<()> {
        if !self.plan.mentions("getSecret") {
            return Ok(());
        }
        let session = Rc::clone(self.session);
        let read = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
            text_of(&ctx, asked(&ctx, &session, Question::Secret(name))?)
        };
        let read = Function::new(self.ctx.clone(), read)?;
        let function: Function<'js> = self.prelude(SECRET)?.call((read,))?;
        self.globals.set("getSecret", function)
    }

    fn config(&self) -> Result<()> {
        let config = Arc::clone(&self.facts.config);
        self.add("getConfig", move |ctx: Ctx<'js>, key: Coerced<String>| {
            if config.is_empty() {
                let message = "scripts may read no configuration here: set script-config";
                return Err(Exception::throw_type(&ctx, message));
            }
            convert::to_js(&ctx, &config.get(&key.0))
        })
    }

    fn variables(&self) -> Result<Variables<'js>> {
        let object = Object::new_proto(self.ctx.clone(), None)?;
        let mut lazy = Vec::new();
        for variable in &self.facts.variables {
            match &variable.value {
                Some(value) => {
                    object.set(variable.name.as_str(), convert::to_js(self.ctx, value)?)?;
                }
                None => {
                    // Reserves the variable's place in the order of the names.
                    object.set(variable.name.as_str(), ())?;
                    lazy.push(variable.name.as_str());
                }
            }
        }
        let touched = if lazy.is_empty() { None } else { Some(self.lazy(&object, lazy)?) };
        if self.plan.mentions("variables") {
            self.globals.set("variables", object.clone())?;
        }
        if self.plan.mentions("args") {
            let arguments = Object::new(self.ctx.clone())?;
            for (name, value) in &self.facts.arguments {
                arguments.set(name.as_str(), convert::to_js(self.ctx, value)?)?;
            }
            self.globals.set("args", arguments)?;
        }
        if !self.facts.accessors.is_empty()
            || self.plan.mentions_any(&["getVariable", "setVariable"])
        {
            self.keep(VARIABLES, &object)?;
        }
        self.add("getVariable", |ctx: Ctx<'js>, name: Coerced<String>| variable(&ctx, &name.0))?;
        self.add("setVariable", |ctx: Ctx<'js>, name: Coerced<String>, value: Value<'js>| {
            set_variable(&ctx, &name.0, value)
        })?;
        Ok(Variables { object, touched })
    }

    /// Variables that are read on first use.
    fn lazy(&self, object: &Object<'js>, names: Vec<&str>) -> Result<Function<'js>> {
        let session = Rc::clone(self.session);
        let read = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
            match asked(&ctx, &session, Question::Variable(name.clone()))? {
                Some(value) => {
                    let found = convert::to_js(&ctx, &value)?;
                    session.borrow_mut().asked.insert(name, value);
                    Ok(found)
                }
                None => Ok(Value::new_undefined(ctx)),
            }
        };
        let read = Function::new(self.ctx.clone(), read)?;
        self.prelude(include_str!("prelude/lazy.js"))?.call((object.clone(), names, read))
    }

    fn accessors(&self) -> Result<()> {
        if !self.facts.accessors.is_empty() {
            self.kept()?;
        }
        for (word, target) in &self.facts.accessors {
            let (target, session) = (target.clone(), Rc::clone(self.session));
            match target {
                Target::Argument(name) => {
                    let found = self.facts.arguments.get(&name).cloned().unwrap_or_default();
                    self.add(word, move |ctx: Ctx<'js>| convert::to_js(&ctx, &found))?;
                }
                Target::Variable(name) => {
                    self.add(word, move |ctx: Ctx<'js>| variable(&ctx, &name))?;
                }
                Target::SetVariable(name) => {
                    self.add(word, move |ctx: Ctx<'js>, value: Value<'js>| {
                        set_variable(&ctx, &name, value)
                    })?;
                }
                Target::Input(name) => {
                    let key = format!("input {name}");
                    self.add(word, move |ctx: Ctx<'js>| {
                        kept(&ctx, &session, &key, || Question::Input(name.clone()))
                    })?;
                }
                Target::Output(activity, output) => {
                    let key = format!("output {word}");
                    self.add(word, move |ctx: Ctx<'js>| {
                        let question = || Question::Output(activity.clone(), Some(output.clone()));
                        kept(&ctx, &session, &key, question)
                    })?;
                }
            }
        }
        Ok(())
    }

    /// The object for answers that stay the same during a run.
    fn kept(&self) -> Result<()> {
        if self.globals.contains_key(KEPT)? {
            return Ok(());
        }
        self.keep(KEPT, &Object::new_proto(self.ctx.clone(), None)?)
    }
}

/// `getSecret`, which returns a promise.
const SECRET: &str = "(read) => async function getSecret(name) { return read(String(name)); }";
/// The key under which our functions find the variables.
const VARIABLES: &str = "staunch:variables";
/// The key under which our functions keep answers.
const KEPT: &str = "staunch:kept";

/// The answer of the scope.
fn asked(ctx: &Ctx<'_>, session: &Shared, question: Question) -> Result<Option<serde_json::Value>> {
    let answer = session.borrow().ask(question);
    // The caller has stopped waiting for the script; the deadline ends it at its next step.
    answer.ok_or_else(|| Exception::throw_internal(ctx, "the script ran too long"))
}

fn value_of<'js>(ctx: &Ctx<'js>, found: Option<serde_json::Value>) -> Result<Value<'js>> {
    convert::to_js(ctx, &found.unwrap_or_default())
}

/// The text that was asked for; an error with the reason if it is refused.
fn text_of<'js>(ctx: &Ctx<'js>, found: Option<serde_json::Value>) -> Result<Value<'js>> {
    match found {
        Some(serde_json::Value::Object(refused)) => {
            let reason = refused.get("refused").and_then(|reason| reason.as_str());
            Err(Exception::throw_type(ctx, reason.unwrap_or("it cannot be had")))
        }
        found => value_of(ctx, found),
    }
}

/// The answer that is kept under this key; the scope is asked if there is none.
fn kept<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    key: &str,
    question: impl FnOnce() -> Question,
) -> Result<Value<'js>> {
    let answers: Object<'js> = ctx.globals().get(KEPT)?;
    if answers.contains_key(key)? {
        return answers.get(key);
    }
    let value = value_of(ctx, asked(ctx, session, question())?)?;
    answers.set(key, value.clone())?;
    Ok(value)
}

/// A variable; null if it does not exist.
fn variable<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let variables: Object<'js> = ctx.globals().get(VARIABLES)?;
    if variables.contains_key(name)? {
        variables.get(name)
    } else {
        Ok(Value::new_null(ctx.clone()))
    }
}

fn set_variable<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<()> {
    let variables: Object<'js> = ctx.globals().get(VARIABLES)?;
    variables.set(name, value)
}

fn nullable<'js>(ctx: &Ctx<'js>, text: Option<&str>) -> Result<Value<'js>> {
    match text {
        Some(text) => Ok(rquickjs::String::from_str(ctx.clone(), text)?.into_value()),
        None => Ok(Value::new_null(ctx.clone())),
    }
}

/// The text of an argument; None when it is missing, null or undefined.
fn text(value: Opt<Value<'_>>) -> Result<Option<String>> {
    match value.0 {
        Some(value) if !value.is_null() && !value.is_undefined() => {
            Ok(Some(value.get::<Coerced<String>>()?.0))
        }
        _ => Ok(None),
    }
}
