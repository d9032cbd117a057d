//! Liquid templates, as far as Elsa offers them.
//!
//! A template sees `Variables`, `Input`, `CorrelationId`, `WorkflowDefinitionId`,
//! `WorkflowDefinitionVersionId`, `WorkflowDefinitionVersion` and `WorkflowInstanceId`; what is not
//! there renders as nothing. It changes nothing, includes nothing, and its clock is the turn's.
//! Every loop, text and rendering is bounded.

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
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Flaw, Language, Scope};
use liquid_core::{Renderable as _, Template, parser};
use model::limits;
use serde_json::Value;

use crate::cache::Cache;
use budget::{Bounded, Budget};

/// Blocks inside blocks.
const NESTING_MAX: usize = 64;

/// The language `Liquid`.
pub struct Liquid {
    dialect: parser::Language,
    templates: Cache<Result<Template, Flaw>>,
    time_max: Duration,
}

impl Liquid {
    /// With the time limit of `model::limits`.
    #[must_use]
    pub fn new() -> Self {
        Self::with_time(limits::SCRIPT_TIME_MAX)
    }

    /// A template may render this long.
    #[must_use]
    pub fn with_time(time_max: Duration) -> Self {
        Self { dialect: filters::dialect(), templates: Cache::new(), time_max }
    }

    fn template(&self, source: &str) -> Arc<Result<Template, Flaw>> {
        self.templates.get(source, |source| parse(source, &self.dialect))
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
        self.template(source).as_ref().as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        if !source.contains("{{") && !source.contains("{%") {
            return Ok(Value::String(source.to_owned()));
        }
        let template = self.template(source);
        let template = template.as_ref().as_ref().map_err(Clone::clone)?;
        let globals = globals::of(source, scope);
        let runtime = lookup::Root::new(&globals);
        let budget = Budget::new(scope.now(), Instant::now() + self.time_max);
        runtime.begin(budget);
        let mut text = Bounded::new(limits::TEMPLATE_OUTPUT_BYTES_MAX);
        // The library has asserts of its own; none of them is worth a process.
        let end = catch_unwind(AssertUnwindSafe(|| template.render_to(&mut text, &runtime)));
        match end {
            Ok(Ok(())) => text.into_text().map(Value::String).map_err(|()| fault::not_text()),
            Ok(Err(_)) if text.is_full() => Err(fault::too_long()),
            Ok(Err(error)) => Err(fault::of(&error)),
            Err(_) => Err(fault::plain("the template cannot be rendered".to_owned())),
        }
    }
}

fn parse(source: &str, dialect: &parser::Language) -> Result<Template, Flaw> {
    if source.len() > limits::EXPRESSION_BYTES_MAX {
        return Err(fault::plain(format!(
            "the template is longer than {} KiB",
            limits::EXPRESSION_BYTES_MAX / 1024
        )));
    }
    if nesting(source) > NESTING_MAX {
        return Err(fault::plain(format!("the template nests deeper than {NESTING_MAX}")));
    }
    let prepared = output::prepare(source);
    let parsed = catch_unwind(AssertUnwindSafe(|| parser::parse(&prepared.text, dialect)));
    match parsed {
        Ok(Ok(elements)) => Ok(Template::new(elements)),
        Ok(Err(error)) => {
            let flaw = fault::of(&error);
            let column = flaw.line.zip(flaw.column);
            let column = column.map(|(line, column)| prepared.column(line, column));
            Err(Flaw { column, ..flaw })
        }
        Err(_) => Err(fault::plain("the template cannot be parsed".to_owned())),
    }
}

/// How deeply blocks, or brackets inside one tag, may stand inside each other at most.
fn nesting(source: &str) -> usize {
    const OPENING: [&str; 7] = ["if", "unless", "for", "case", "capture", "comment", "raw"];
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

/// The deepest `[` inside `[`, wherever it stands.
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
