//! What `staunch validate` prints: each check when it is done, all of them at the end.

use validation::{Check, CheckResult, Report, Site, Told};

use crate::output::{self, Format};
use crate::{Failure, say};

/// Prints the nodes that answered.
pub(super) fn nodes(site: &Site) {
    for (node, server) in site.nodes() {
        say::message(&format!("{server} is {node}"));
    }
    let names: Vec<_> = site.executors().collect();
    let (names, run) = (names.join(", "), site.run());
    say::message(&format!("workflows run on {names}; names begin with {run}"));
}

/// Prints what a validation tells while it goes on.
pub(super) fn progress(told: Told<'_>) {
    say::message(&match told {
        Told::Part(part) => format!("\n{part}"),
        Told::Doing(text) => format!("  …        {text}"),
        Told::Check(Check { name, result, figures, .. }) => {
            format!("  {:<8} {name}: {figures}", shown(*result))
        }
    });
}

/// A failure stands out.
fn shown(result: CheckResult) -> String {
    match result {
        CheckResult::Failed => result.word().to_uppercase(),
        _ => result.word().to_owned(),
    }
}

/// Writes all checks to standard output.
///
/// # Errors
/// When it is closed.
pub(super) fn report(report: &Report, site: &Site, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&report.json(site));
    }
    say::message("");
    let row = |check: &Check| {
        let Check { part, name, result, figures, .. } = check;
        // A failure with details has several lines.
        let figures = figures.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        vec![(*part).to_owned(), name.clone(), shown(*result), figures]
    };
    let rows: Vec<_> = report.checks().iter().map(row).collect();
    output::table(&["PART", "CHECK", "RESULT", "FIGURES"], &rows)?;
    say::data(&format!(
        "\n{} passed, {} failed, {} skipped",
        report.count(CheckResult::Passed),
        report.count(CheckResult::Failed),
        report.count(CheckResult::Skipped)
    ))
}

/// Fails when a check has failed.
///
/// # Errors
/// With the number of failed checks.
pub(super) fn verdict(report: &Report) -> Result<(), Failure> {
    match report.count(CheckResult::Failed) {
        0 => Ok(()),
        failed => {
            Err(Failure::failed(format!("{failed} of {} checks failed", report.checks().len())))
        }
    }
}
