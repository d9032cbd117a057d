//! One script in one fresh QuickJS runtime, within its limits.
//!
//! A runtime for each run costs some 20 µs more than a shared one. In return nothing passes from
//! one evaluation to the next, memory is counted for each script, and the stack is measured from
//! the start of the run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::{Flaw, Scope};
use model::limits;
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Object, Promise, Runtime};
use serde_json::Value;

use super::fault::{self, Failure, Guard};
use super::plan::{Mode, Plan};
use super::session::{self, End, Facts, ScopeLine, Session, Shared};
use super::{convert, host};
use crate::threads::Threads;

type Plain = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Promise,
);
// Without the intrinsics that show a script a clock (Performance) or the garbage collector
// (WeakRef).
type Rich = (Plain, intrinsic::Date, intrinsic::MapSet, intrinsic::Proxy, intrinsic::TypedArrays);

const RICH: [&str; 14] = [
    "Date",
    "DateTime",
    "DateTimeOffset",
    "TimeSpan",
    "Map",
    "Set",
    "WeakMap",
    "WeakSet",
    "Proxy",
    "ArrayBuffer",
    "DataView",
    "groupBy",
    "Atomics",
    "structuredClone",
];

/// Runs the script to its end and writes its changes to the scope.
///
/// # Errors
/// [`Flaw`] when it throws, or uses more than it may; then it has changed nothing.
pub(super) fn evaluate(
    threads: &Threads,
    source: &str,
    plan: &Arc<Plan>,
    scope: &mut dyn Scope,
    facts: Facts,
    deadline: Instant,
) -> Result<Value, Flaw> {
    let (text, plan) = (source.to_owned(), Arc::clone(plan));
    let work = move |line: ScopeLine| run(&text, &plan, &facts, line, deadline);
    let end = threads.run(deadline, work, |question| session::answer(question, scope))?;
    let (value, changes) = end.unwrap_or_else(|| Err(fault::late()))?;
    session::carry_over(changes, scope)?;
    Ok(value)
}

/// Finds out whether the text can be parsed in this mode, without running it.
///
/// # Errors
/// [`Flaw`] with the place where the parser gave up.
pub(super) fn parse(source: &str, mode: Mode, deadline: Instant) -> Result<(), Flaw> {
    let runtime = runtime(&Guard::new(deadline))?;
    let context = Context::custom::<Plain>(&runtime).map_err(|error| fault::broken(&error))?;
    let (before, after) = frame(mode);
    // The whole text is parsed before the first statement ends the run.
    let before = format!("throw 0;{before}");
    context.with(|ctx| {
        let text = format!("{before}{source}{after}");
        let parsed: rquickjs::Result<rquickjs::Value<'_>> =
            ctx.eval_with_options(text, options(mode));
        match parsed {
            Ok(_) => Ok(()),
            Err(error) => match fault::syntax(&ctx, &error, before.len()) {
                Some(flaw) => Err(flaw),
                None => Ok(()),
            },
        }
    })
}

fn run(source: &str, plan: &Plan, facts: &Facts, line: ScopeLine, deadline: Instant) -> End {
    let guard = Guard::new(deadline);
    let runtime = runtime(&guard)?;
    let context = if needs_rich(plan) {
        Context::custom::<Rich>(&runtime)
    } else {
        Context::custom::<Plain>(&runtime)
    };
    let context = context.map_err(|error| fault::broken(&error))?;
    let session: Shared = Rc::new(RefCell::new(Session::new(line)));
    let (before, after) = frame(plan.mode);
    let end = context.with(|ctx| {
        let end = steps(&ctx, format!("{before}{source}{after}"), plan, facts, &session, &guard);
        end.map_err(|unfit| fault::failure(&ctx, unfit, &guard, before.len()))
    });
    match end {
        Ok(value) => Ok((value, std::mem::take(&mut session.borrow_mut().changes))),
        Err(Failure::Flaw(flaw)) => Err(flaw),
        Err(Failure::Null) => {
            let used = runtime.memory_usage().malloc_size;
            Err(fault::null(usize::try_from(used).unwrap_or(0)))
        }
    }
}

fn needs_rich(plan: &Plan) -> bool {
    plan.mentions_any(&RICH)
        || plan.mentions_any(&["Uint8Array", "Int8Array", "Uint16Array", "Int16Array"])
        || plan.mentions_any(&["Uint32Array", "Int32Array", "Float32Array", "Float64Array"])
        || plan.mentions_any(&["Uint8ClampedArray", "BigInt64Array", "BigUint64Array"])
        || plan.mentions_any(&["bytesToString", "bytesFromString", "bytesToBase64"])
        || plan.mentions_any(&["bytesFromBase64", "streamToBytes", "streamToBase64"])
}

fn steps<'js>(
    ctx: &Ctx<'js>,
    text: String,
    plan: &Plan,
    facts: &Facts,
    session: &Shared,
    guard: &Guard,
) -> Result<Value, convert::Unfit> {
    let variables = host::install(ctx, plan, facts, session)?;
    let mut value: rquickjs::Value<'js> = ctx.eval_with_options(text, options(plan.mode))?;
    if let Some(promise) = value.as_promise() {
        let promise = promise.clone();
        value = settled(&promise, guard)?;
        if plan.mode == Mode::AsyncScript {
            // A script with top-level await resolves to an object around its value.
            value = match value.as_object() {
                Some(object) => object.get("value")?,
                None => value,
            };
            if let Some(promise) = value.as_promise().cloned() {
                value = settled(&promise, guard)?;
            }
        }
    }
    let value = if facts.takes_files && needs_rich(plan) {
        convert::with_files(ctx, value)?
    } else {
        convert::to_json(ctx, value)?
    };
    let changed = changed(ctx, &variables.touched()?, facts, session)?;
    session.borrow_mut().changes.variables = changed;
    Ok(value)
}

fn settled<'js>(
    promise: &Promise<'js>,
    guard: &Guard,
) -> Result<rquickjs::Value<'js>, convert::Unfit> {
    while promise.state() == PromiseState::Pending {
        if guard.must_end() || !promise.ctx().execute_pending_job() {
            break;
        }
    }
    match promise.result() {
        Some(result) => Ok(result?),
        None => Err(convert::Unfit::Odd(
            "the script waits for a promise that nothing will ever resolve".to_owned(),
        )),
    }
}

/// The variables whose values have changed.
fn changed<'js>(
    ctx: &Ctx<'js>,
    variables: &Object<'js>,
    facts: &Facts,
    session: &Shared,
) -> Result<Vec<(String, Value)>, convert::Unfit> {
    let mut changed = Vec::new();
    for property in variables.props::<String, rquickjs::Value<'js>>() {
        let (name, value) = property?;
        let known = facts.variables.iter().find(|variable| variable.name == name);
        let session = session.borrow();
        let before = known.and_then(|known| known.value.as_ref());
        let before = before.or_else(|| session.asked.get(&name));
        if let Some(value) = convert::changed(ctx, value, before)? {
            changed.push((name, value));
        }
    }
    Ok(changed)
}

fn runtime(guard: &Guard) -> Result<Runtime, Flaw> {
    let runtime = Runtime::new().map_err(|error| fault::broken(&error))?;
    runtime.set_memory_limit(limits::SCRIPT_MEMORY_BYTES_MAX);
    runtime.set_max_stack_size(limits::SCRIPT_STACK_BYTES_MAX);
    let guard = guard.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || guard.must_end())));
    Ok(runtime)
}

/// The code before and after the text; the code before it contains no line break.
fn frame(mode: Mode) -> (&'static str, &'static str) {
    match mode {
        Mode::Script | Mode::AsyncScript => ("", ""),
        Mode::Body => ("(function(){", "\n})()"),
        Mode::AsyncBody => ("(async function(){", "\n})()"),
    }
}

fn options(mode: Mode) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = mode == Mode::AsyncScript;
    options.filename = Some(fault::FILE.to_owned());
    options
}
