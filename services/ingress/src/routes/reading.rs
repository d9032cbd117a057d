//! Reads definitions that were sent, and names every mistake in them at once: the parts that cannot
//! be read, and what a publication would refuse in the rest.

use std::sync::Arc;

use engine::Engine;
use model::{Definition, Misread};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::naming;
use crate::app::App;
use crate::problem::Problem;
use crate::publication;

/// What can be read of a definition, and what cannot.
pub(super) struct Reading {
    pub(super) definition: Definition,
    misread: Vec<Misread>,
    /// What was read, such as `the body`.
    what: String,
}

impl Reading {
    /// Reads a definition.
    ///
    /// # Errors
    /// Nothing of it can be read, or two of its members have the same name in another case.
    pub(super) fn of(mut document: Value, what: impl Into<String>) -> Result<Self, Problem> {
        let what = what.into();
        naming::of_definition(&mut document, &what)?;
        if let Ok(definition) = Definition::deserialize(&document) {
            return Ok(Self { definition, misread: Vec::new(), what });
        }
        let misread = Definition::repair(&mut document);
        match serde_json::from_value(document) {
            Ok(definition) => Ok(Self { definition, misread, what }),
            Err(error) if misread.is_empty() => Err(unread(&what, &error.to_string())),
            Err(_) => Err(unread(&what, &flaws(&misread))),
        }
    }

    /// The definition.
    ///
    /// # Errors
    /// Every part that cannot be read, or has another shape than a workflow has, with its place.
    pub(super) fn draft(mut self, engine: &Engine) -> Result<Definition, Problem> {
        self.misread.extend(engine.misshapen(&self.definition, false));
        engine.spell(&mut self.definition);
        match self.flaw() {
            Some(flaw) => Err(Problem::bad_request(flaw).with("validationErrors", self.errors())),
            None => Ok(self.definition),
        }
    }

    fn flaw(&self) -> Option<String> {
        let Self { misread, what, .. } = self;
        (!misread.is_empty()).then(|| about(what, &flaws(misread)))
    }

    /// The parts that cannot be read, as validation errors.
    fn errors(&self) -> Vec<Value> {
        let id = &self.definition.definition_id;
        let error = |Misread { place, message }: &Misread| {
            json!({"message": message, "activityId": null, "property": place,
                "definitionId": id})
        };
        self.misread.iter().map(error).collect()
    }

    /// An error in what could be read, at its place in what was sent.
    fn placed(&self, mut error: Value) -> Value {
        if error["activityId"].is_null()
            && let Some(place) = error["property"].as_str()
        {
            error["property"] = json!(Misread::before(&self.misread, place));
        }
        error
    }
}

/// The definitions, which are to be published together.
///
/// # Errors
/// If one cannot be read in whole: every part of each that cannot, and everything that would keep the
/// rest from being published.
pub(super) async fn publishable(
    app: &Arc<App>,
    mut readings: Vec<Reading>,
) -> Result<Vec<Definition>, Problem> {
    for Reading { definition, misread, .. } in &mut readings {
        misread.extend(app.cx.engine.misshapen(definition, true));
        app.cx.engine.spell(definition);
    }
    let flaws: Vec<_> = readings.iter().filter_map(Reading::flaw).collect();
    if flaws.is_empty() {
        return Ok(readings.into_iter().map(|reading| reading.definition).collect());
    }
    let mut errors: Vec<_> = readings.iter().flat_map(Reading::errors).collect();
    let rest = readings.iter().map(|reading| reading.definition.clone()).collect();
    // A refusal for another reason comes once all can be read.
    if let Err(refused) = publication::check_together(app, rest).await {
        for error in refused.validation_errors().into_iter().flatten() {
            let is_of =
                |it: &&Reading| error["definitionId"] == it.definition.definition_id.as_str();
            let error = error.clone();
            errors.push(match readings.iter().find(is_of) {
                Some(reading) => reading.placed(error),
                None => error,
            });
        }
    }
    Err(Problem::bad_request(flaws.join("; ")).with("validationErrors", errors))
}

fn unread(what: &str, flaw: &str) -> Problem {
    Problem::bad_request(about(what, flaw))
}

fn about(what: &str, flaw: &str) -> String {
    format!("{what} is not a workflow definition: {flaw}")
}

fn flaws(misread: &[Misread]) -> String {
    let named = misread.iter().map(|one| format!("{}: {}", one.place, one.message));
    named.collect::<Vec<_>>().join("; ")
}
