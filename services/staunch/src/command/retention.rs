//! `staunch retention run`: removes ended instances after their time, as the timer role does from
//! time to time, or says which would be removed.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bus::Bus;
use chassis::Settings;
use clap::{Arg, Args, Subcommand};
use model::{After, span};
use serde_json::{Value, json};
use store::Store;
use timer::{Group, Report, Retention, Rules};
use tokio_util::sync::CancellationToken;

use super::NATS_SETTINGS;
use crate::interrupt::interrupted;
use crate::output::{self, Format};
use crate::{Failure, say};

/// What the help shows beside the settings of the connection to NATS: what decides what is removed, and the
/// settings of the database.
const SHOWN: [&str; 11] = [
    "config",
    "retain-finished",
    "retain-cancelled",
    "retain-faulted",
    "archive-to",
    "retain-audit",
    "retain-dead",
    "database-url",
    "database-pooler",
    "database-wait",
    "database-statement-time",
];
const OTHERS: &str = "Every other setting of the server is accepted, too: see `staunch config --help`. \
                      NATS is needed with retain-dead alone.";

#[derive(Args, Debug)]
#[command(mut_args(shown), after_help = OTHERS)]
pub(crate) struct RetentionArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Runs once, by the settings retain-finished, retain-cancelled and retain-faulted, and by what
    /// each definition says
    #[command(after_help = OTHERS)]
    Run {
        /// Removes nothing; says how many instances would be removed, and with -o json which
        #[arg(long)]
        dry_run: bool,
    },
}

/// Leaves the settings out of the help that decide nothing here. They are accepted all the same: a
/// command takes every setting of the server.
fn shown(argument: Arg) -> Arg {
    let is_shown = |name: &str| SHOWN.contains(&name) || NATS_SETTINGS.contains(&name);
    let is_shown = argument.get_long().is_some_and(is_shown);
    argument.hide(!is_shown)
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Run { dry_run: true })
    }
}

/// Runs one of the `retention` commands.
///
/// # Errors
/// When the database, the archive or, for dead letters, the broker does not answer.
pub(crate) async fn run(
    verb: Verb,
    store: Arc<dyn Store>,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let Verb::Run { dry_run } = verb;
    let rules =
        Rules::from_settings(settings).map_err(|error| Failure::usage(error.to_string()))?;
    let nats = match rules.dead {
        Some(_) if !dry_run => Some(node::connect(settings).await?),
        _ => None,
    };
    let bus = nats.clone().map(|nats| Arc::new(nats) as Arc<dyn Bus>);
    let stop = CancellationToken::new();
    let retention = Retention::new(store, bus, rules, node::nonces()).until(stop.clone());
    let retention = if dry_run { retention.dry() } else { retention };
    let mut running = pin!(retention.run_once());
    let report = tokio::select! {
        report = &mut running => report,
        () = interrupted() => {
            say::message("interrupted: this step ends, and is written into the audit log");
            stop.cancel();
            tokio::select! {
                report = &mut running => report,
                () = interrupted() => return Err(Failure::failed("interrupted twice")),
            }
        }
    };
    if let Some(nats) = nats {
        nats.close().await;
    }
    show(&report, dry_run, format)?;
    match report.failed {
        None if report.is_cut_short => {
            Err(Failure::failed("interrupted: the next run goes on with what is left"))
        }
        None => Ok(()),
        Some(timer::Error::Store(error)) => Err(error.into()),
        Some(timer::Error::Bus(error)) => Err(error.into()),
        Some(error) => Err(Failure::failed(format!("retention is not complete: {error}"))),
    }
}

fn show(report: &Report, dry_run: bool, format: Format) -> Result<(), Failure> {
    for (definition, reason) in &report.unclear {
        say::message(&format!("the instances of {definition} are all kept: {reason}"));
    }
    if format == Format::Json {
        return output::json(&document(report, dry_run));
    }
    if !report.groups.is_empty() {
        let verb = if dry_run { "WOULD GO" } else { "REMOVED" };
        let headings = ["DEFINITION", "STATUS", "KEPT", verb, "THEN", "HELD", "OLDEST"];
        output::table(&headings, &report.groups.iter().map(row).collect::<Vec<_>>())?;
    }
    for (what, count) in &report.others {
        say::message(&format!("{what}: {count} removed"));
    }
    say::message(&said(report.groups.iter().map(|group| group.removed).sum(), dry_run));
    Ok(())
}

/// How many instances were removed, or would be.
fn said(removed: u64, dry_run: bool) -> String {
    let verb = if dry_run { "would be removed" } else { "removed" };
    format!("{} {verb}", output::counted(removed, "instance", "instances"))
}

fn row(group: &Group) -> Vec<String> {
    vec![
        group.definition_id.to_string(),
        group.status.to_string(),
        kept(group.kept),
        group.removed.to_string(),
        then(group).to_owned(),
        group.held.to_string(),
        group.oldest.map(|oldest| oldest.to_string()).unwrap_or_default(),
    ]
}

/// A time as a setting has it, such as `30d`.
fn kept(time: Duration) -> String {
    const HOUR: u64 = 60 * 60;
    const DAY: u64 = 24 * HOUR;
    match time.as_secs() {
        _ if time.subsec_nanos() > 0 => span::text(time),
        0 => span::text(time),
        seconds if seconds.is_multiple_of(DAY) => format!("{}d", seconds / DAY),
        seconds if seconds.is_multiple_of(HOUR) => format!("{}h", seconds / HOUR),
        seconds if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        _ => span::text(time),
    }
}

fn then(group: &Group) -> &'static str {
    match group.after {
        After::Delete => "delete",
        After::Archive => "archive",
    }
}

fn document(report: &Report, dry_run: bool) -> Value {
    let groups = report.groups.iter().map(|group| {
        json!({
            "definitionId": group.definition_id,
            "status": group.status,
            "kept": span::text(group.kept),
            "then": then(group),
            "instances": group.removed,
            "archived": group.archived,
            "held": group.held,
            "failed": group.failed,
            "oldest": group.oldest,
            "ids": group.ids,
        })
    });
    let unclear = report.unclear.iter();
    let unclear = unclear.map(|(id, reason)| json!({"definitionId": id, "reason": reason}));
    json!({
        "dryRun": dry_run,
        "groups": groups.collect::<Vec<_>>(),
        "kept": unclear.collect::<Vec<_>>(),
        "others": report.others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_shows_the_settings_that_count_and_all_are_accepted() {
        let mut command = RetentionArgs::augment_args(clap::Command::new("retention"));
        command.build();
        let run = command.find_subcommand_mut("run").unwrap();
        let help = run.render_long_help().to_string();
        for name in SHOWN.into_iter().chain(NATS_SETTINGS).chain(["dry-run"]) {
            assert!(
                help.contains(&format!("--{name} ")) || help.contains(&format!("--{name}\n")),
                "{name}: {help}"
            );
        }
        for name in ["listen", "oidc-issuer", "smtp-url", "nats-subjects", "retain-every-seconds"] {
            assert!(!help.contains(&format!("--{name}")), "{name}: {help}");
        }
        let line = ["retention", "run", "--dry-run", "--listen", "127.0.0.1:1"];
        assert!(command.try_get_matches_from(line).is_ok());
    }

    #[test]
    fn one_instance_is_not_said_to_be_several() {
        for (removed, dry_run, expected) in [
            (0, false, "0 instances removed"),
            (1, false, "1 instance removed"),
            (1, true, "1 instance would be removed"),
            (2, true, "2 instances would be removed"),
        ] {
            assert_eq!(said(removed, dry_run), expected);
        }
    }

    #[test]
    fn times_are_shown_as_settings_have_them() {
        for text in ["1d", "30d", "2h", "90m"] {
            assert_eq!(kept(span::parse(text).unwrap()), text);
        }
        assert_eq!(kept(Duration::from_secs(36 * 60 * 60)), "36h");
        assert_eq!(kept(Duration::from_millis(3_600_500)), "01:00:00.5000000");
    }
}
