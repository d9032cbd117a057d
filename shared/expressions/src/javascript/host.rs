//! What a script can call: Elsa's functions, put into a fresh context as far as they are mentioned.

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rquickjs::function::{IntoJsFunc, Opt};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, TypedArray, Value};
use uuid::Uuid;

use super::accessor::Target;
use super::plan::Plan;
use super::session::{Facts, Shared};
use super::{convert, lifetime};

/// Every function of ours whose name could be taken for an accessor.
pub(super) const FUNCTIONS: [&str; 20] = [
    "getWorkflowDefinitionId",
    "getWorkflowDefinitionVersionId",
    "getWorkflowDefinitionVersion",
    "getWorkflowInstanceId",
    "getWorkflowInstanceName",
    "setWorkflowInstanceName",
    "getCorrelationId",
    "setCorrelationId",
    "getVariable",
    "setVariable",
    "getInput",
    "getOutputFrom",
    "getLastResult",
    "getGuidString",
    "getShortGuid",
    "setOutcome",
    "setOutcomes",
    "getConfig",
    "getSecret",
    "getTime",
];

/// Elements of the longest array that a function without a clock may walk.
const GUARDED_ELEMENTS_MAX: f64 = 1_000_000.0;
/// Characters that a search without a clock may have to compare.
const GUARDED_COMPARISONS_MAX: f64 = 1_000_000_000.0;

/// Puts what the plan mentions into the context; answers with the object that holds the variables.
pub(super) fn install<'js>(
    ctx: &Ctx<'js>,
    plan: &Plan,
    facts: &Facts,
    session: &Shared,
) -> Result<Object<'js>> {
    let host = Host { ctx, plan, facts, session, globals: ctx.globals() };
    host.workflow()?;
    host.outcomes()?;
    host.outputs()?;
    host.texts()?;
    host.chance()?;
    host.types()?;
    host.store()
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
            nullable(&ctx, session.borrow().correlation_id.as_ref().unwrap_or(&first).as_deref())
        })?;
        let session = Rc::clone(self.session);
        self.add("setCorrelationId", move |value: Opt<Value<'js>>| -> Result<()> {
            session.borrow_mut().correlation_id = Some(text(value)?);
            Ok(())
        })?;
        let (session, first) = (Rc::clone(self.session), identity.instance_name.clone());
        self.add("getWorkflowInstanceName", move |ctx: Ctx<'js>| {
            nullable(&ctx, session.borrow().instance_name.as_ref().unwrap_or(&first).as_deref())
        })?;
        let session = Rc::clone(self.session);
        self.add("setWorkflowInstanceName", move |value: Opt<Value<'js>>| -> Result<()> {
            session.borrow_mut().instance_name = Some(text(value)?);
            Ok(())
        })
    }

    fn outcomes(&self) -> Result<()> {
        let session = Rc::clone(self.session);
        self.add("setOutcome", move |name: Coerced<String>| {
            session.borrow_mut().outcomes = Some(vec![name.0]);
        })?;
        let session = Rc::clone(self.session);
        self.add("setOutcomes", move |names: Vec<Coerced<String>>| {
            let names = names.into_iter().map(|name| name.0).collect();
            session.borrow_mut().outcomes = Some(names);
        })
    }

    fn outputs(&self) -> Result<()> {
        let session = Rc::clone(self.session);
        self.add(
            "getOutputFrom",
            move |ctx: Ctx<'js>, activity: Coerced<String>, output: Opt<Value<'js>>| {
                let output = text(output)?;
                let found = session.borrow_mut().output(&activity.0, output.as_deref());
                answer(&ctx, found)
            },
        )?;
        if self.plan.mentions("getLastResult") {
            let last = convert::to_js(self.ctx, &self.facts.last_result)?;
            let make = self.prelude("(function (value) { return () => value; })")?;
            self.globals.set("getLastResult", make.call::<_, Value<'js>>((last,))?)?;
        }
        let (session, now) = (Rc::clone(self.session), self.facts.now);
        self.add(
            "createEventTriggerUrl",
            move |ctx: Ctx<'js>, event: Coerced<String>, lifetime: Opt<Value<'js>>| {
                let lifetime = lifetime::read(&ctx, lifetime.0, now)?;
                let found = session.borrow_mut().url(&event.0, lifetime);
                answer(&ctx, found)
            },
        )
    }

    fn texts(&self) -> Result<()> {
        self.add("isNullOrEmpty", |value: Opt<Value<'js>>| -> Result<bool> {
            Ok(text(value)?.is_none_or(|text| text.is_empty()))
        })?;
        self.add("isNullOrWhiteSpace", |value: Opt<Value<'js>>| -> Result<bool> {
            Ok(text(value)?.is_none_or(|text| text.trim().is_empty()))
        })?;
        self.add("toJson", |ctx: Ctx<'js>, value: Value<'js>| ctx.json_stringify(value))?;
        self.add("stringToBase64", |value: Coerced<String>| STANDARD.encode(value.0))?;
        self.add("stringFromBase64", |ctx: Ctx<'js>, value: Coerced<String>| {
            utf8(&ctx, decode(&ctx, &value.0)?)
        })?;
        self.add("parseGuid", parse_guid)?;
        let bytes = ["bytesToString", "bytesFromString", "bytesToBase64", "bytesFromBase64"];
        let streams = ["streamToBytes", "streamToBase64", "Uint8Array"];
        if self.plan.mentions_any(&bytes) || self.plan.mentions_any(&streams) {
            let ctx = self.ctx;
            let natives = (
                Function::new(ctx.clone(), |bytes: Vec<u8>| STANDARD.encode(bytes))?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
                    TypedArray::<u8>::new(ctx.clone(), decode(&ctx, &text)?)
                })?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, bytes: Vec<u8>| utf8(&ctx, bytes))?,
                Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| {
                    TypedArray::<u8>::new(ctx, text.into_bytes())
                })?,
            );
            self.prelude(include_str!("prelude/bytes.js"))?.call::<_, ()>(natives)?;
        }
        Ok(())
    }

    fn chance(&self) -> Result<()> {
        let (seed, session) = (Uuid::from_bytes(self.facts.seed), Rc::clone(self.session));
        let guid = move || {
            let mut session = session.borrow_mut();
            session.guids += 1;
            let derived = Uuid::new_v5(&seed, &session.guids.to_be_bytes());
            uuid::Builder::from_random_bytes(derived.into_bytes()).into_uuid()
        };
        for name in ["newGuid", "newGuidString", "getGuidString"] {
            let guid = guid.clone();
            self.add(name, move || guid().to_string())?;
        }
        for name in ["newShortGuid", "getShortGuid"] {
            let guid = guid.clone();
            self.add(name, move || URL_SAFE_NO_PAD.encode(guid().as_bytes()))?;
        }
        if self.plan.mentions_any(&["random", "Random"]) {
            let math: Object<'js> = self.globals.get("Math")?;
            math.set("random", Function::new(self.ctx.clone(), random(self.facts.seed))?)?;
        }
        if self.plan.mentions_any(&["Guid", "Random"]) {
            let natives = (
                Function::new(self.ctx.clone(), move || guid().to_string())?,
                Function::new(self.ctx.clone(), parse_guid)?,
            );
            self.prelude(include_str!("prelude/guid.js"))?.call::<_, ()>(natives)?;
        }
        Ok(())
    }

    fn types(&self) -> Result<()> {
        // Whole milliseconds of a date fit a double exactly.
        let now = self.facts.now.as_millis() as f64;
        let dates = self.plan.mentions_any(&["DateTime", "DateTimeOffset"]);
        if dates || self.plan.mentions("Date") {
            self.prelude(include_str!("prelude/date.js"))?.call::<_, ()>((now,))?;
        }
        if dates || self.plan.mentions("TimeSpan") {
            self.prelude(include_str!("prelude/timespan.js"))?.call::<_, ()>(())?;
        }
        if dates {
            self.prelude(include_str!("prelude/datetime.js"))?.call::<_, ()>((now,))?;
        }
        let (walkers, searches) = self.plan.guarded();
        if !walkers.is_empty() || !searches.is_empty() {
            let limits = (walkers, searches, GUARDED_ELEMENTS_MAX, GUARDED_COMPARISONS_MAX);
            self.prelude(include_str!("prelude/guard.js"))?.call::<_, ()>(limits)?;
        }
        Ok(())
    }

    fn store(&self) -> Result<Object<'js>> {
        let variables = Object::new_proto(self.ctx.clone(), None)?;
        for (name, value) in &self.facts.variables {
            variables.set(name.as_str(), convert::to_js(self.ctx, value)?)?;
        }
        if self.plan.mentions("variables") {
            self.globals.set("variables", variables.clone())?;
        }
        if self.plan.mentions("args") {
            self.globals.set("args", Object::new(self.ctx.clone())?)?;
        }
        if self.plan.mentions_any(&["getVariable", "setVariable"])
            || !self.facts.accessors.is_empty()
        {
            self.globals.set(VARIABLES, variables.clone())?;
        }
        self.add("getVariable", |ctx: Ctx<'js>, name: Coerced<String>| {
            get(&ctx, VARIABLES, &name.0)
        })?;
        self.add("setVariable", |ctx: Ctx<'js>, name: Coerced<String>, value: Value<'js>| {
            set(&ctx, &name.0, value)
        })?;
        self.inputs()?;
        self.accessors()?;
        Ok(variables)
    }

    fn inputs(&self) -> Result<()> {
        if self.plan.mentions("getInput") {
            let inputs = Object::new_proto(self.ctx.clone(), None)?;
            for (name, value) in &self.facts.inputs {
                inputs.set(name.as_str(), convert::to_js(self.ctx, value)?)?;
            }
            self.globals.set(INPUTS, inputs)?;
        }
        self.add("getInput", |ctx: Ctx<'js>, name: Coerced<String>| get(&ctx, INPUTS, &name.0))
    }

    fn accessors(&self) -> Result<()> {
        if self.facts.accessors.is_empty() {
            return Ok(());
        }
        let values = Object::new_proto(self.ctx.clone(), None)?;
        self.globals.set(VALUES, values.clone())?;
        for (word, target) in &self.facts.accessors {
            match target {
                Target::Variable(name) => {
                    let name = name.clone();
                    self.add(word, move |ctx: Ctx<'js>| get(&ctx, VARIABLES, &name))?;
                }
                Target::SetVariable(name) => {
                    let name = name.clone();
                    self.add(word, move |ctx: Ctx<'js>, value: Value<'js>| {
                        set(&ctx, &name, value)
                    })?;
                }
                Target::Input(_) | Target::Output(..) => {
                    let value = self.facts.accessor_values.get(word);
                    let value = value.unwrap_or(&serde_json::Value::Null);
                    values.set(word.as_str(), convert::to_js(self.ctx, value)?)?;
                    let name = word.clone();
                    self.add(word, move |ctx: Ctx<'js>| get(&ctx, VALUES, &name))?;
                }
            }
        }
        Ok(())
    }
}

/// Where the functions find what they read; names that no script writes by accident.
const VARIABLES: &str = "staunch:variables";
const INPUTS: &str = "staunch:inputs";
const VALUES: &str = "staunch:values";

/// A member of one of our objects; null when it is not there.
fn get<'js>(ctx: &Ctx<'js>, store: &str, name: &str) -> Result<Value<'js>> {
    let store: Object<'js> = ctx.globals().get(store)?;
    if store.contains_key(name)? { store.get(name) } else { Ok(Value::new_null(ctx.clone())) }
}

fn set<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<()> {
    let store: Object<'js> = ctx.globals().get(VARIABLES)?;
    store.set(name, value)
}

fn answer<'js>(ctx: &Ctx<'js>, found: Option<serde_json::Value>) -> Result<Value<'js>> {
    match found {
        Some(value) => convert::to_js(ctx, &value),
        None => Err(Exception::throw_internal(ctx, "the script will be run again")),
    }
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

fn parse_guid(ctx: Ctx<'_>, text: Coerced<String>) -> Result<String> {
    match Uuid::try_parse(text.0.trim()) {
        Ok(guid) => Ok(guid.to_string()),
        Err(_) => Err(Exception::throw_type(&ctx, &format!("{:?} is not a GUID", text.0))),
    }
}

fn decode(ctx: &Ctx<'_>, text: &str) -> Result<Vec<u8>> {
    let decoded = STANDARD.decode(text);
    decoded.map_err(|error| Exception::throw_type(ctx, &format!("not base64: {error}")))
}

fn utf8(ctx: &Ctx<'_>, bytes: Vec<u8>) -> Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|error| Exception::throw_type(ctx, &format!("the bytes are no text: {error}")))
}

/// Numbers in [0, 1) from a seed: xorshift128+.
fn random(seed: [u8; 16]) -> impl Fn() -> f64 {
    let (low, high) = Uuid::from_bytes(seed).as_u64_pair();
    let state = Cell::new((low | 1, high));
    move || {
        let (mut x, y) = state.get();
        x ^= x << 23;
        let next = x ^ y ^ (x >> 17) ^ (y >> 26);
        state.set((y, next));
        // The upper 53 bits fit a double exactly.
        (next.wrapping_add(y) >> 11) as f64 / 9_007_199_254_740_992.0
    }
}
