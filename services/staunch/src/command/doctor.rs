//! `staunch doctor`: what is wrong with an installation, and what to do. It asks NATS, the database,
//! the HTTP API and this machine, and changes nothing. Where payloads rest outside of the database, it
//! writes an object, and removes it.

mod broker;
mod check;
mod cluster;
mod database;
mod facts;
mod gather;
mod judge;
#[cfg(test)]
mod tests;

use chassis::Settings;
use clap::Args;
use serde_json::{Value, json};

pub(crate) use check::{Check, Grade};
pub(crate) use facts::Facts;

use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Address of the HTTP API, which alone is asked; those of all live nodes if not given
    #[arg(long, env = "STAUNCH_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Prints only what is not ok
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Checks everything, and prints a line for each check.
///
/// # Errors
/// Forbidden when a server refuses to answer the caller, or all refuse the key; failed when a check is
/// bad.
pub(crate) async fn run(
    server: Option<String>,
    is_quiet: bool,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let (facts, checks) = examine(server, settings).await;
    let shown: Vec<_> =
        checks.iter().filter(|check| !is_quiet || check.grade != Grade::Ok).collect();
    match format {
        Format::Json => output::json(&document(&checks))?,
        Format::Table => shown.iter().try_for_each(|check| {
            let Check { grade, area, found, advice } = check;
            say::data(&say::one_line(&format!("{grade:<4}  {area:<8}  {found}")))?;
            match advice {
                Some(advice) => say::data(&say::one_line(&format!("      {:<8}  -> {advice}", ""))),
                None => Ok(()),
            }
        })?,
    }
    let count = |grade| checks.iter().filter(|check| check.grade == grade).count();
    let (warnings, bad) = (count(Grade::Warn), count(Grade::Bad));
    if let Some(reason) = refusal(&facts) {
        let message = format!("{reason} ({})", summary(checks.len(), bad, warnings));
        return Err(Failure::new(Kind::Forbidden, message));
    }
    if bad > 0 {
        return Err(Failure::failed(summary(checks.len(), bad, warnings)));
    }
    say::message(&format!("{} checks, none of them bad, {warnings} with a warning", checks.len()));
    Ok(())
}

/// Why a server refuses to answer at all, or why all that answer refuse the caller's key.
fn refusal(facts: &Facts) -> Option<&str> {
    let refusing = facts.servers.iter().find(|server| server.is_refusing);
    if let Some(reason) = refusing.and_then(|server| server.version.as_ref().err()) {
        return Some(reason);
    }
    let mut answering = facts.servers.iter().filter(|server| server.version.is_ok()).peekable();
    let first = answering.peek()?.refusal.as_deref();
    let is_everywhere = answering.all(|server| server.refusal.is_some());
    first.filter(|_| facts.has_key && is_everywhere)
}

/// How many of the checks are bad, and how many give a warning.
fn summary(all: usize, bad: usize, warnings: usize) -> String {
    let is = if bad == 1 { "is" } else { "are" };
    let gives = if warnings == 1 { "gives" } else { "give" };
    format!("{bad} of {all} checks {is} bad, {warnings} {gives} a warning")
}

/// Asks everything, and judges the answers.
pub(crate) async fn examine(server: Option<String>, settings: &Settings) -> (Facts, Vec<Check>) {
    let facts = gather::facts(server, settings).await;
    let checks = judge::judge(&facts);
    (facts, checks)
}

/// The checks for programs.
pub(crate) fn document(checks: &[Check]) -> Value {
    let worst = checks.iter().map(|check| check.grade).max().unwrap_or(Grade::Ok);
    json!({"grade": worst.to_string(), "checks": checks.iter().map(Check::document).collect::<Vec<_>>()})
}
