//! What was checked, with the figures: told while it goes on, and as a whole at the end.

use serde_json::{Value, json};

use crate::output::{self, Format};
use crate::{Failure, say};

use super::site::Site;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

impl Verdict {
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
    verdict: Verdict,
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

    /// The checks from now on belong to this part.
    pub(super) fn begin(&mut self, part: &'static str) {
        self.part = part;
        say::talk(&format!("\n{part}"));
    }

    /// What is being done, which may take a while.
    pub(super) fn doing(&self, text: &str) {
        say::talk(&format!("  …        {text}"));
    }

    /// A check that passed or failed.
    pub(super) fn check(&mut self, name: &str, passed: bool, figures: &str, data: Value) {
        let verdict = if passed { Verdict::Passed } else { Verdict::Failed };
        self.add(name, verdict, figures, data);
    }

    /// A check that cannot be made here.
    pub(super) fn skip(&mut self, name: &str, why: &str) {
        self.add(name, Verdict::Skipped, why, Value::Null);
    }

    /// The part is over; one that could not go on has failed.
    pub(super) fn end(&mut self, ended: Result<(), Failure>) {
        if let Err(failure) = ended {
            self.add(
                "all of it could be checked",
                Verdict::Failed,
                &failure.to_string(),
                Value::Null,
            );
        }
    }

    fn add(&mut self, name: &str, verdict: Verdict, figures: &str, data: Value) {
        say::talk(&format!("  {:<8} {name}: {figures}", verdict.word()));
        let (name, figures) = (name.to_owned(), figures.to_owned());
        self.checks.push(Check { part: self.part, name, verdict, figures, data });
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    /// Writes all checks to standard output.
    ///
    /// # Errors
    /// When it is closed.
    pub(super) fn print(&self, site: &Site, format: Format) -> Result<(), Failure> {
        if format == Format::Json {
            return output::json(&self.json(site));
        }
        say::talk("");
        let row = |check: &Check| {
            let Check { part, name, verdict, figures, .. } = check;
            // A failure may have several lines.
            let figures = figures.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            vec![(*part).to_owned(), name.clone(), verdict.word().to_owned(), figures]
        };
        let rows: Vec<_> = self.checks.iter().map(row).collect();
        output::table(&["PART", "CHECK", "RESULT", "FIGURES"], &rows)?;
        say::data(&format!(
            "\n{} passed, {} failed, {} skipped",
            self.count(Verdict::Passed),
            self.count(Verdict::Failed),
            self.count(Verdict::Skipped)
        ))
    }

    fn json(&self, site: &Site) -> Value {
        let check = |check: &Check| {
            json!({
                "part": check.part, "check": check.name, "result": check.verdict.word().to_lowercase(),
                "figures": check.figures, "data": check.data,
            })
        };
        json!({
            "nodes": site.names(),
            "passed": self.count(Verdict::Passed),
            "failed": self.count(Verdict::Failed),
            "skipped": self.count(Verdict::Skipped),
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
        })
    }

    /// Good when no check has failed.
    ///
    /// # Errors
    /// With the number of those that have.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        match self.count(Verdict::Failed) {
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
