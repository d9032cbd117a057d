//! Checks of the database, and of the work that waits in it.

use std::time::Duration;

use migration::CONTRACT;
use model::Timestamp;
use node::DatabaseSeen;

use super::check::{Check, latency};
use super::facts::{SettingsSeen, Work};
use super::gather::COUNTED_MAX;
use crate::output;

/// The round trip that is advised, and the one above which nothing is fast any more.
const ROUND_TRIP: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// Percent of the connections of the server.
const CONNECTIONS: u64 = 80;
/// The oldest PostgreSQL that its makers still mend.
const POSTGRES_MIN: u32 = 14;
/// A command that waits for longer is late; one that waits for much longer does not come.
const LATE: Duration = Duration::from_secs(10);
const STUCK: Duration = Duration::from_secs(60);
/// The setting that the reason names where a pooler is in the way.
const POOLER: &str = "database-pooler";
/// The beginning of a reason where the database answers, and refuses.
const DENIED: &str = "no access to the database";

/// Every check of the database itself.
pub(super) fn checks(
    database: &Result<DatabaseSeen, String>,
    settings: &SettingsSeen,
) -> Vec<Check> {
    let url = &settings.database_url;
    let database = match database {
        Ok(database) => database,
        Err(reason) => {
            // The reason names what to set.
            let advice = match reason {
                reason if reason.contains(POOLER) => {
                    "set --database-pooler on each node, or correct --database-url"
                }
                reason if reason.contains(DENIED) => {
                    "give its user the right that is missing, or correct --database-url"
                }
                _ => "start the database, or correct --database-url",
            };
            return vec![Check::bad("database", format!("{url}: {reason}"), advice)];
        }
    };
    let DatabaseSeen { kind, version, bytes, applied, .. } = database;
    let mib = bytes / (1024 * 1024);
    let mut checks =
        vec![Check::ok("database", format!("{url} answers: {kind} {version}, {mib} MiB"))];
    checks.extend(latency("database", "the database", &database.round_trips, ROUND_TRIP));
    let major = version.split('.').next().and_then(|number| number.parse::<u32>().ok());
    if *kind == "PostgreSQL" && major.is_some_and(|major| major < POSTGRES_MIN) {
        let found = format!("PostgreSQL {version} gets no more corrections");
        checks.push(Check::warn("database", found, "upgrade it"));
    }
    if database.is_read_only {
        let found = "the database takes no writes: it is a replica, or was switched to reading";
        let advice = "name the primary in --database-url, or promote this one";
        checks.push(Check::bad("database", found, advice));
    }
    if !database.missing.is_empty() {
        let found = format!("the schema lacks {}", database.missing.join(", "));
        checks.push(Check::bad("database", found, "run `staunch migrate`"));
    } else if let Some(contract) = database.newer.iter().find(|one| one.ends_with(CONTRACT)) {
        let found = format!("the schema is too new for this program: {contract}");
        let advice = "use the program of the newer version: a node of this one does not start";
        checks.push(Check::bad("database", found, advice));
    } else if !database.newer.is_empty() {
        let found = format!("the schema is newer than this program: {}", database.newer.join(", "));
        let advice = "use the program of the newer version; an older node works on beside it";
        checks.push(Check::warn("database", found, advice));
    } else {
        checks.push(Check::ok("database", format!("all {applied} migrations are applied")));
    }
    let (used, most) = database.connections;
    if most > 0 && used * 100 / most >= CONNECTIONS {
        let found = format!("{used} of {most} connections of the database are in use");
        let advice = "raise max_connections, or put PgBouncer in front of it";
        checks.push(Check::warn("database", found, advice));
    }
    checks
}

/// What waits in the database.
pub(super) fn work(work: &Result<Work, String>, has_timer: bool) -> Vec<Check> {
    let work = match work {
        Ok(work) => work,
        Err(reason) => {
            let found = format!("the work that waits cannot be read: {reason}");
            return vec![Check::bad("work", found, "see the checks of the database")];
        }
    };
    let Work { now, unapplied, unstarted, overdue, unpublished } = work;
    let whose = match has_timer {
        true => {
            "see the queue and the executors with `staunch top`, and one instance with \
                 `staunch why ID`"
        }
        false => "start a node with the role timer, which sweeps up what was left behind",
    };
    let mut checks = Vec::new();
    if let (Some(oldest), count) = unapplied {
        let age = now.since(*oldest);
        let (one, many) =
            ("accepted command is not applied yet", "accepted commands are not applied yet");
        let found = format!("{}, the oldest for {} s", counted(*count, one, many), age.as_secs());
        checks.push(match age {
            age if age < LATE => Check::ok("work", found),
            age if age < STUCK => Check::warn("work", found, whose),
            _ => Check::bad("work", found, whose),
        });
    }
    if *unstarted > 0 {
        let (one, many) = ("accepted start has not run", "accepted starts have not run");
        let found = counted(*unstarted, one, many);
        checks.push(Check::bad("work", found, whose));
    }
    if *unpublished > 0 {
        let (one, many) =
            ("committed message is not published", "committed messages are not published");
        let found = counted(*unpublished, one, many);
        let advice = match has_timer {
            true => {
                "compare `staunch task ls`, all tasks, with `staunch worker ls`, those in the stream: a \
                 type without workers may have more than its share; see in the log of the executors \
                 why they are left to the sweep"
            }
            false => whose,
        };
        checks.push(Check::bad("work", found, advice));
    }
    checks.extend(timers(*now, *overdue, whose));
    if checks.is_empty() {
        checks.push(Check::ok("work", "nothing waits that should have been done"));
    }
    checks
}

fn timers(now: Timestamp, overdue: (Option<Timestamp>, u64), advice: &str) -> Option<Check> {
    let (Some(oldest), count) = overdue else { return None };
    let late = now.since(oldest).as_secs();
    let found = counted(count, "timer is overdue", "timers are overdue");
    Some(Check::bad("work", format!("{found}, the oldest by {late} s"), advice))
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        COUNTED_MAX.. => format!("{count} or more {many}"),
        count => output::counted(count, one, many),
    }
}
