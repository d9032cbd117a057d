//! The checks with their figures: each is told when it is done.

use std::fmt;

use api_client::Failure;
use serde_json::{Value, json};

use crate::Site;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The cluster does what it should.
    Passed,
    /// It does not.
    Failed,
    /// It cannot be checked here.
    Skipped,
}

impl CheckResult {
    /// `ok`, `failed` or `skipped`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its part, such as `1 distributed runtime`.
    pub part: &'static str,
    /// What should be true.
    pub name: String,
    /// Whether it is.
    pub result: CheckResult,
    /// What was seen, for people.
    pub figures: String,
    /// The figures, for programs.
    pub data: Value,
}

impl Check {
    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "part": self.part, "check": self.name, "result": self.result.word(),
            "figures": self.figures, "data": self.data,
        })
    }
}

/// What a validation tells while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// A part begins.
    Part(&'a str),
    /// A step begins that may take a while.
    Doing(&'a str),
    /// A check is done.
    Check(&'a Check),
}

/// All checks so far.
pub struct Report {
    part: &'static str,
    checks: Vec<Check>,
    tell: Box<dyn FnMut(Told<'_>) + Send>,
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").field("checks", &self.checks).finish_non_exhaustive()
    }
}

impl Report {
    /// A report without checks, which tells everything to this function.
    pub fn new(tell: impl FnMut(Told<'_>) + Send + 'static) -> Self {
        Self { part: "", checks: Vec::new(), tell: Box::new(tell) }
    }

    /// Begins a part: the next checks belong to it.
    pub(crate) fn begin(&mut self, part: &'static str) {
        self.part = part;
        (self.tell)(Told::Part(part));
    }

    /// Tells the current step, if it may take a while.
    pub(crate) fn doing(&mut self, text: &str) {
        (self.tell)(Told::Doing(text));
    }

    /// Adds a check that passed or failed.
    pub(crate) fn check(&mut self, name: &str, passed: bool, figures: &str, data: Value) {
        let result = if passed { CheckResult::Passed } else { CheckResult::Failed };
        self.add(name, result, figures, data);
    }

    /// Adds a check that cannot be made on this cluster.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.add(name, CheckResult::Skipped, why, Value::Null);
    }

    /// Ends a part; adds a failed check if the part could not be completed.
    pub(crate) fn end(&mut self, ended: Result<(), Failure>) {
        if let Err(failure) = ended {
            self.add(
                "all of it could be checked",
                CheckResult::Failed,
                &failure.to_string(),
                Value::Null,
            );
        }
    }

    fn add(&mut self, name: &str, result: CheckResult, figures: &str, data: Value) {
        let (name, figures) = (name.to_owned(), figures.to_owned());
        let check = Check { part: self.part, name, result, figures, data };
        (self.tell)(Told::Check(&check));
        self.checks.push(check);
    }

    /// All checks, in their order.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The number of checks with this result.
    #[must_use]
    pub fn count(&self, result: CheckResult) -> usize {
        self.checks.iter().filter(|check| check.result == result).count()
    }

    /// All checks as JSON, with the nodes that were asked.
    #[must_use]
    pub fn json(&self, site: &Site) -> Value {
        json!({
            "nodes": site.names(),
            "passed": self.count(CheckResult::Passed),
            "failed": self.count(CheckResult::Failed),
            "skipped": self.count(CheckResult::Skipped),
            "checks": self.checks.iter().map(Check::json).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn everything_is_told_and_a_part_that_could_not_be_completed_is_a_failed_check() {
        let (sender, told) = mpsc::channel();
        let mut report = Report::new(move |what| {
            sender
                .send(match what {
                    Told::Part(part) => part.to_owned(),
                    Told::Doing(text) => text.to_owned(),
                    Told::Check(check) => format!("{} {}", check.result.word(), check.name),
                })
                .unwrap();
        });
        report.begin("a part");
        report.doing("a step");
        report.check("one", true, "1 of 1", Value::Null);
        report.skip("two", "not here");
        report.end(Ok(()));
        report.end(Err(Failure::failed("no answer")));
        let told: Vec<_> = told.try_iter().collect();
        let all =
            ["a part", "a step", "ok one", "skipped two", "failed all of it could be checked"];
        assert_eq!(told, all);
        use CheckResult::{Failed, Passed, Skipped};
        assert_eq!([Passed, Failed, Skipped].map(|result| report.count(result)), [1, 1, 1]);
    }
}
