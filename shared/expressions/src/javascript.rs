//! JavaScript in Elsa's dialect, on QuickJS.
//!
//! A script is its last expression, or what a `return` at its top returns; a promise is awaited.
//! It sees Elsa's functions and nothing else: no files, no network, no modules, no clock but the
//! turn's, no chance but the turn's. Local time is UTC. A script that fails has changed nothing.

mod accessor;
mod convert;
mod fault;
mod host;
#[cfg(test)]
mod hostile;
mod lifetime;
mod plan;
mod run;
mod session;
mod simple;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use engine::{Flaw, Language, Scope};
use model::limits;
use serde_json::Value;

use crate::cache::Cache;
use plan::{Mode, Plan};

/// The language `JavaScript`.
pub struct JavaScript {
    plans: Cache<Result<Plan, Flaw>>,
    time_max: Duration,
}

impl JavaScript {
    /// With the time limit of `model::limits`.
    #[must_use]
    pub fn new() -> Self {
        Self::with_time(limits::SCRIPT_TIME_MAX)
    }

    /// A script may run this long.
    #[must_use]
    pub fn with_time(time_max: Duration) -> Self {
        Self { plans: Cache::new(), time_max }
    }

    fn plan(&self, source: &str) -> std::sync::Arc<Result<Plan, Flaw>> {
        self.plans.get(source, |source| {
            let mode = mode(source, Instant::now() + self.time_max)?;
            Ok(Plan::new(source, mode))
        })
    }
}

impl Default for JavaScript {
    fn default() -> Self {
        Self::new()
    }
}

impl Language for JavaScript {
    fn name(&self) -> &'static str {
        "JavaScript"
    }

    fn check(&self, source: &str) -> Result<(), Flaw> {
        self.plan(source).as_ref().as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        let plan = self.plan(source);
        let plan = plan.as_ref().as_ref().map_err(Clone::clone)?;
        if let Some(value) = plan.simple.as_ref().and_then(|simple| simple.evaluate(scope)) {
            return Ok(value);
        }
        run::evaluate(source, plan, scope, Instant::now() + self.time_max)
    }
}

/// How the text has to be handed to QuickJS.
fn mode(source: &str, deadline: Instant) -> Result<Mode, Flaw> {
    if source.len() > limits::EXPRESSION_BYTES_MAX {
        return Err(flaw(format!(
            "the script is longer than {} KiB",
            limits::EXPRESSION_BYTES_MAX / 1024
        )));
    }
    // `await` is a plain name in a script, so where it stands the text is no plain script first.
    let modes: &[Mode] = match (source.contains("await"), source.contains("return")) {
        (false, false) => &[Mode::Script],
        (false, true) => &[Mode::Script, Mode::Body],
        (true, false) => &[Mode::AsyncScript, Mode::Script],
        (true, true) => &[Mode::AsyncScript, Mode::Script, Mode::AsyncBody],
    };
    let mut best: Option<Flaw> = None;
    for mode in modes {
        let Err(flaw) = run::parse(source, *mode, deadline) else { return Ok(*mode) };
        // The mode that gets furthest knows most about what is wrong.
        let place = |flaw: &Flaw| (flaw.line, flaw.column);
        if best.as_ref().is_none_or(|best| place(&flaw) > place(best)) {
            best = Some(flaw);
        }
    }
    Err(best.unwrap_or_else(|| flaw("the script cannot be parsed".to_owned())))
}

fn flaw(message: String) -> Flaw {
    Flaw { message, line: None, column: None }
}
