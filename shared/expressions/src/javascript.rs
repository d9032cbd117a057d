//! JavaScript in Elsa's dialect, on QuickJS.
//!
//! The value of a script is that of its last expression, or of a `return` at its top; a promise is
//! awaited. A script sees Elsa's functions and nothing else: no files, no network, no modules, the
//! time and the random numbers of the turn only. Local time is UTC. A script that fails has changed
//! nothing.

mod accessor;
mod convert;
mod declared;
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
mod words;

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Flaw, Language, Mentions, Scope, Surroundings};
use model::{ScriptLibrary, limits};
use serde_json::Value;

use crate::cache::Cache;
use crate::config::Config;
use crate::flaw::flaw;
use crate::mentions;
use crate::threads::{Line, Threads};
use plan::{Mode, Plan};
use session::{Facts, Given};

/// The language `JavaScript`.
pub struct JavaScript {
    plans: Cache<Result<Arc<Plan>, Flaw>>,
    threads: Threads,
    time_max: Duration,
    given: Given,
}

impl JavaScript {
    /// With the limits of `model::limits`, no configuration and no libraries.
    #[must_use]
    pub fn new() -> Self {
        Self::with(limits::SCRIPT_TIME_MAX, Arc::default(), &[])
    }

    /// With another time limit, no configuration and no libraries.
    #[must_use]
    pub fn with_time(time_max: Duration) -> Self {
        Self::with(time_max, Arc::default(), &[])
    }

    /// With another time limit for a script, the configuration that it may read, and the libraries that
    /// it finds under their global names.
    #[must_use]
    pub fn with(time_max: Duration, config: Arc<Config>, libraries: &[ScriptLibrary]) -> Self {
        let given = Given { config, libraries: libraries.into() };
        Self { plans: Cache::new(), threads: Threads::new(), time_max, given }
    }

    fn plan(&self, source: &str) -> Result<Arc<Plan>, Flaw> {
        let plan = self.plans.get(source, |source| {
            // The parser may take long too, and it cannot be interrupted.
            let (text, deadline) = (source.to_owned(), Instant::now() + self.time_max);
            let parse = move |_: Line<(), (), _>| mode(&text, deadline);
            let mode = self.threads.run(deadline, parse, |()| ())?;
            let mode = mode.ok_or_else(|| flaw("the script takes too long to parse"))?;
            Ok::<_, Flaw>(mode.map(|mode| Arc::new(Plan::new(source, mode, &self.given.libraries))))
        })?;
        plan.as_ref().clone()
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
        self.plan(source).map(|_| ())
    }

    fn mentions(&self, source: &str) -> Mentions {
        mentions::in_script(source)
    }

    fn declarations(&self, around: &Surroundings) -> Option<String> {
        Some(declared::declarations(around, &self.given.libraries))
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        let plan = self.plan(source)?;
        if let Some(value) = plan.simple.as_ref().and_then(|simple| simple.evaluate(scope)) {
            return Ok(value);
        }
        let deadline = Instant::now() + self.time_max;
        let facts = Facts::read(source, &plan, scope, &self.given);
        run::evaluate(&self.threads, source, &plan, scope, facts, deadline)
    }
}

/// The mode in which the text can be parsed.
fn mode(source: &str, deadline: Instant) -> Result<Mode, Flaw> {
    if source.len() > limits::EXPRESSION_BYTES_MAX {
        return Err(flaw(format!(
            "the script is longer than {} KiB",
            limits::EXPRESSION_BYTES_MAX / 1024
        )));
    }
    // `await` is a plain name in a script, so a text with it is first tried as an async script.
    let modes: &[Mode] = match (source.contains("await"), source.contains("return")) {
        (false, false) => &[Mode::Script],
        (false, true) => &[Mode::Script, Mode::Body],
        (true, false) => &[Mode::AsyncScript, Mode::Script],
        (true, true) => &[Mode::AsyncScript, Mode::Script, Mode::AsyncBody],
    };
    let mut best: Option<Flaw> = None;
    for mode in modes {
        let Err(flaw) = run::parse(source, *mode, deadline) else { return Ok(*mode) };
        // The mode in which the parser gets furthest has the best message.
        let place = |flaw: &Flaw| (flaw.line, flaw.column);
        if best.as_ref().is_none_or(|best| place(&flaw) > place(best)) {
            best = Some(flaw);
        }
    }
    Err(best.unwrap_or_else(|| flaw("the script cannot be parsed")))
}
