//! The checks with their figures: each is printed when it is done, all of them at the end.

use serde_json::{Value, json};

use crate::output::{self, Format};
use crate::{Failure, say};

use super::site::Site;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckResult {
    Passed,
    Failed,
    Skipped,
}

impl CheckResult {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug)]
struct Check {
    part: &'static str,
    name: String,
    result: CheckResult,
    figures: String,
    data: Value,
}

/// All checks so far.
#[derive(Debug)]
pub(super) struct Report {
    part: &'static str,
    checks: Vec<Check>,
}

impl Report {
    pub(super) fn new() -> Self {
        Self { part: "", checks: Vec::new() }
    }

    /// Begins a part: the next checks belong to it.
    pub(super) fn begin(&mut self, part: &'static str) {
        self.part = part;
        say::message(&format!("\n{part}"));
    }

    /// Prints the current step, if it may take a while.
    pub(super) fn doing(&self, text: &str) {
        say::message(&format!("  …        {text}"));
    }

    /// Adds a check that passed or failed.
    pub(super) fn check(&mut self, name: &str, passed: bool, figures: &str, data: Value) {
        let result = if passed { CheckResult::Passed } else { CheckResult::Failed };
        self.add(name, result, figures, data);
    }

    /// Adds a check that cannot be made on this cluster.
    pub(super) fn skip(&mut self, name: &str, why: &str) {
        self.add(name, CheckResult::Skipped, why, Value::Null);
    }

    /// Ends a part; adds a failed check if the part could not be completed.
    pub(super) fn end(&mut self, ended: Result<(), Failure>) {
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
        say::message(&format!("  {:<8} {name}: {figures}", result.word()));
        let (name, figures) = (name.to_owned(), figures.to_owned());
        self.checks.push(Check { part: self.part, name, result, figures, data });
    }

    fn count(&self, result: CheckResult) -> usize {
        self.checks.iter().filter(|check| check.result == result).count()
    }

    /// Writes all checks to standard output.
    ///
    /// # Errors
    /// When it is closed.
    pub(super) fn print(&self, site: &Site, format: Format) -> Result<(), Failure> {
        if format == Format::Json {
            return output::json(&self.json(site));
        }
        say::message("");
        let row = |check: &Check| {
            let Check { part, name, result, figures, .. } = check;
            // A failure with details has several lines.
            let figures = figures.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            vec![(*part).to_owned(), name.clone(), result.word().to_owned(), figures]
        };
        let rows: Vec<_> = self.checks.iter().map(row).collect();
        output::table(&["PART", "CHECK", "RESULT", "FIGURES"], &rows)?;
        say::data(&format!(
            "\n{} passed, {} failed, {} skipped",
            self.count(CheckResult::Passed),
            self.count(CheckResult::Failed),
            self.count(CheckResult::Skipped)
        ))
    }

    fn json(&self, site: &Site) -> Value {
        let check = |check: &Check| {
            json!({
                "part": check.part, "check": check.name, "result": check.result.word().to_lowercase(),
                "figures": check.figures, "data": check.data,
            })
        };
        json!({
            "nodes": site.names(),
            "passed": self.count(CheckResult::Passed),
            "failed": self.count(CheckResult::Failed),
            "skipped": self.count(CheckResult::Skipped),
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
        })
    }

    /// Fails when a check has failed.
    ///
    /// # Errors
    /// With the number of failed checks.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        match self.count(CheckResult::Failed) {
            0 => Ok(()),
            failed => {
                Err(Failure::failed(format!("{failed} of {} checks failed", self.checks.len())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_check_fails_the_whole_and_a_skipped_one_does_not() {
        let mut report = Report::new();
        report.begin("a part");
        report.check("one", true, "1 of 1", Value::Null);
        report.skip("two", "not here");
        report.end(Ok(()));
        assert!(report.verdict().is_ok());
        report.end(Err(Failure::failed("no answer")));
        let failure = report.verdict().unwrap_err();
        assert_eq!(failure.to_string(), "1 of 3 checks failed");
    }
}
