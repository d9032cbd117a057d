//! Liquid templates, with the names and filters that Elsa offers.
//!
//! A template sees `Variables`, `Input`, `Configuration`, `CorrelationId`, `WorkflowDefinitionId`,
//! `WorkflowDefinitionVersionId`, `WorkflowDefinitionVersion` and `WorkflowInstanceId`; a name that
//! does not exist renders as nothing. A template changes nothing and includes no other template;
//! its time is that of the turn. Loops, texts and the rendering are bounded.

mod budget;
mod capture;
mod convert;
mod date;
mod fault;
mod filter;
mod filters;
mod for_block;
mod globals;
mod lookup;
mod output;
mod table_row;
mod tags;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Flaw, Language, Mentions, Scope};
use liquid_core::{Object, Renderable as _, Template, parser};
use model::{Timestamp, limits};
use serde_json::Value;

use crate::cache::Cache;
use crate::config::Config;
use crate::flaw::flaw;
use crate::mentions;
use crate::threads::{Line, Threads};
use budget::{Bounded, Budget};
use globals::Globals;

/// The nesting limit of blocks.
const NESTING_MAX: usize = 64;
/// The size limit of a template that its caller renders itself, in bytes. Such a template does at
/// most about 200 ms of work between two checks of the time. All others are rendered on another
/// thread.
const INLINE_SOURCE_BYTES_MAX: usize = 2 * 1024;
/// The size limit of the variables and inputs of a template that its caller renders itself, in
/// bytes.
const INLINE_DATA_BYTES_MAX: usize = 64 * 1024;

type Parsed = Result<Arc<Template>, Flaw>;

/// The language `Liquid`.
pub struct Liquid {
    dialect: Arc<parser::Language>,
    templates: Cache<Parsed>,
    threads: Threads,
    time_max: Duration,
    config: Arc<Config>,
}

impl Liquid {
    /// With the limits of `model::limits`, and no configuration.
    #[must_use]
    pub fn new() -> Self {
        Self::with(limits::SCRIPT_TIME_MAX, Arc::default())
    }

    /// With another time limit, and no configuration.
    #[must_use]
    pub fn with_time(time_max: Duration) -> Self {
        Self::with(time_max, Arc::default())
    }

    /// With another time limit for a template, and the configuration that it may read.
    #[must_use]
    pub fn with(time_max: Duration, config: Arc<Config>) -> Self {
        let dialect = Arc::new(filters::dialect());
        Self { dialect, templates: Cache::new(), threads: Threads::new(), time_max, config }
    }

    fn template(&self, source: &str) -> Parsed {
        let parsed = self.templates.get(source, |source| {
            let (text, dialect) = (source.to_owned(), Arc::clone(&self.dialect));
            let work = move |_: Line<(), (), Parsed>| parse(&text, &dialect);
            let deadline = Instant::now() + self.time_max;
            let parsed = self.threads.run(deadline, work, |()| ())?;
            parsed.ok_or_else(|| flaw("the template takes too long to parse"))
        })?;
        parsed.as_ref().clone()
    }
}

impl Default for Liquid {
    fn default() -> Self {
        Self::new()
    }
}

impl Language for Liquid {
    fn name(&self) -> &'static str {
        "Liquid"
    }

    fn check(&self, source: &str) -> Result<(), Flaw> {
        self.template(source).map(|_| ())
    }

    fn mentions(&self, source: &str) -> Mentions {
        mentions::in_template(source)
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        if !source.contains("{{") && !source.contains("{%") {
            return Ok(Value::String(source.to_owned()));
        }
        let template = self.template(source)?;
        let Globals { names, bytes } = globals::of(source, scope, &self.config);
        let (now, deadline) = (scope.now(), Instant::now() + self.time_max);
        if source.len() <= INLINE_SOURCE_BYTES_MAX && bytes <= INLINE_DATA_BYTES_MAX {
            return render(&template, &names, now, deadline);
        }
        let work = move |_: Line<(), (), _>| render(&template, &names, now, deadline);
        let end = self.threads.run(deadline, work, |()| ())?;
        end.unwrap_or_else(|| Err(fault::late()))
    }
}

fn render(
    template: &Template,
    globals: &Object,
    now: Timestamp,
    deadline: Instant,
) -> Result<Value, Flaw> {
    let runtime = lookup::Root::new(globals);
    runtime.begin(Budget::new(now, deadline));
    let mut text = Bounded::new(limits::TEMPLATE_OUTPUT_BYTES_MAX);
    // The library may panic. Such a panic becomes a flaw of the template.
    let end = catch_unwind(AssertUnwindSafe(|| template.render_to(&mut text, &runtime)));
    match end {
        Ok(Ok(())) => text.into_text().map(Value::String).map_err(|()| fault::not_text()),
        Ok(Err(_)) if text.is_full() => Err(fault::too_long()),
        Ok(Err(error)) => Err(fault::of(&error)),
        Err(_) => Err(flaw("the template cannot be rendered")),
    }
}

fn parse(source: &str, dialect: &parser::Language) -> Parsed {
    if source.len() > limits::EXPRESSION_BYTES_MAX {
        return Err(flaw(format!(
            "the template is longer than {} KiB",
            limits::EXPRESSION_BYTES_MAX / 1024
        )));
    }
    let prepared = output::prepare(source);
    if nesting(&prepared.text) > NESTING_MAX {
        return Err(flaw(format!("the template nests deeper than {NESTING_MAX}")));
    }
    let parsed = catch_unwind(AssertUnwindSafe(|| parser::parse(&prepared.text, dialect)));
    match parsed {
        Ok(Ok(elements)) => Ok(Arc::new(Template::new(elements))),
        Ok(Err(error)) => {
            let flaw = fault::of(&error);
            let column = flaw.line.zip(flaw.column);
            let column = column.map(|(line, column)| prepared.column(line, column));
            Err(Flaw { column, ..flaw })
        }
        Err(_) => Err(flaw("the template cannot be parsed")),
    }
}

/// The deepest nesting of blocks, or of brackets inside one tag; may be overestimated, never
/// underestimated.
fn nesting(source: &str) -> usize {
    const OPENING: [&str; 8] =
        ["if", "unless", "for", "case", "capture", "comment", "raw", "tablerow"];
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for tag in source.split("{%").skip(1) {
        let word = tag.trim_start_matches('-').split_whitespace().next().unwrap_or_default();
        if OPENING.contains(&word) {
            depth += 1;
        } else if word.starts_with("end") {
            depth = depth.saturating_sub(1);
        }
        deepest = deepest.max(depth);
    }
    let brackets = source.split(['{', '}']).map(|part| part.matches('[').count()).max();
    let inside = source.contains("{{") || source.contains("{%");
    deepest.max(if inside { brackets.unwrap_or(0).min(bracket_depth(source)) } else { 0 })
}

/// The deepest nesting of `[`, inside and outside of tags.
fn bracket_depth(source: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for c in source.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
