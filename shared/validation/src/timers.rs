//! Part 2, scheduled tasks: each timer fires once over all nodes, and never early; each occurrence
//! of a schedule starts one instance.

use std::collections::BTreeMap;
use std::time::Duration;

use api_client::{Failure, text};
use futures::{StreamExt as _, stream};
use model::Timestamp;
use serde_json::{Value, json};

use crate::figure::Times;
use crate::report::Report;
use crate::runtime::shares;
use crate::site::{AT_ONCE, SOON, Site};
use crate::workflow;

/// The number of timers that are started through each node.
const EACH: usize = 30;
/// The wait of each timer.
const SECONDS: u64 = 2;
/// The number of occurrences of the schedule that are checked.
const OCCURRENCES: usize = 4;
/// If nodes run on other machines, a timer is early only by more than this: their clocks differ.
const CLOCKS_APART: Duration = Duration::from_millis(100);
const FIRED: &str = "staunch_timers_fired_total";

pub(crate) async fn run(site: &Site, report: &mut Report) -> Result<(), Failure> {
    timers(site, report).await?;
    schedule(site, report).await
}

async fn timers(site: &Site, report: &mut Report) -> Result<(), Failure> {
    let definition = site.name("timers");
    site.publish(site.any(0), &workflow::delayed(&definition, SECONDS)).await?;
    let count = EACH * site.members.len();
    report.doing(&format!("{count} timers of {SECONDS} s"));
    let before = site.readings().await?;
    let ids = begin(site, &definition, count).await?;
    let finished = site.finished(&definition, count, SOON).await?;
    let fired = fired_since(site, &before).await?;
    let Waits { late, early, other } = waits(site, &ids, Duration::from_secs(SECONDS)).await?;
    let once = finished == count && other.is_empty();
    let wrong = if other.is_empty() { String::new() } else { format!("; {}", other.join(", ")) };
    let figures = format!("{finished} of {count}{wrong}");
    report.check("each timer fires once", once, &figures, json!({"count": count}));
    let figures = format!("{early} early; late {late}");
    report.check("no timer fires early", early == 0, &figures, late.json());
    let told: usize = fired.values().sum();
    if told < count {
        report.skip("who fired", "nodes without an HTTP API fired too, and do not tell");
    } else {
        report.check("who fired", true, &shares(&fired), json!(fired));
    }
    Ok(())
}

/// Starts this many instances, through all nodes in turn.
pub(crate) async fn begin(
    site: &Site,
    definition: &str,
    count: usize,
) -> Result<Vec<String>, Failure> {
    let starts = (0..count).map(|number| site.dispatch(site.any(number), definition, number));
    let ids: Vec<Result<_, Failure>> =
        stream::iter(starts).buffer_unordered(AT_ONCE).collect().await;
    ids.into_iter().collect()
}

/// The waits of several instances.
pub(crate) struct Waits {
    /// The time from the due time to the next step.
    pub(crate) late: Times,
    /// The number of instances that continued before the due time.
    pub(crate) early: usize,
    /// The instances that did not wait and continue exactly once.
    pub(crate) other: Vec<String>,
}

/// Reads the waits of this length of these instances from their journals.
pub(crate) async fn waits(site: &Site, ids: &[String], wanted: Duration) -> Result<Waits, Failure> {
    let tolerance = if site.is_local { Duration::ZERO } else { CLOCKS_APART };
    let (mut late, mut early, mut other) = (Vec::new(), 0, Vec::new());
    for (id, journal) in ids.iter().zip(site.journals(ids).await?) {
        let (suspended, resumed) = (moments(&journal, "Suspended"), moments(&journal, "Resumed"));
        let ([from], [to]) = (&suspended[..], &resumed[..]) else {
            other.push(format!("{id} fired {} times", resumed.len()));
            continue;
        };
        let waited = to.since(*from);
        if waited + tolerance < wanted {
            early += 1;
        }
        late.push(waited.saturating_sub(wanted));
    }
    Ok(Waits { late: late.into_iter().collect(), early, other })
}

/// The times at which the waiting activity had this event.
fn moments(journal: &[Value], event: &str) -> Vec<Timestamp> {
    let fits =
        |entry: &&Value| entry["activityId"] == workflow::WAIT && entry["eventName"] == event;
    let fitting = journal.iter().filter(fits);
    fitting.filter_map(|entry| Timestamp::parse(&text(entry, "timestamp")).ok()).collect()
}

/// The number of timers that each named node fired since a reading.
async fn fired_since(
    site: &Site,
    before: &[api_client::Reading],
) -> Result<BTreeMap<String, usize>, Failure> {
    let after = site.readings().await?;
    let each = site.members.iter().zip(before.iter().zip(&after));
    let fired = each.map(|(member, (before, after))| {
        (member.node.clone(), after.added(before, FIRED) as usize)
    });
    Ok(fired.filter(|(_, count)| *count > 0).collect())
}

async fn schedule(site: &Site, report: &mut Report) -> Result<(), Failure> {
    let definition = site.name("schedule");
    report.doing(&format!("a schedule of one start each second, {OCCURRENCES} times"));
    site.publish(site.any(0), &workflow::every_second(&definition)).await?;
    let came = site.finished(&definition, OCCURRENCES, SOON).await?;
    let path = format!("/workflow-definitions/{definition}/retract");
    site.any(0).post(&path, &json!({})).await?;
    let path = format!(
        "/workflow-instances?definitionId={definition}&pageSize=100&orderDirection=Ascending"
    );
    let body = site.any(0).get(&path).await?;
    let items = body["items"].as_array().cloned().unwrap_or_default();
    let began: Vec<i64> = items
        .iter()
        .filter_map(|item| Timestamp::parse(&text(item, "createdAt")).ok())
        .map(Timestamp::as_millis)
        .collect();
    let seconds: Vec<i64> = began.iter().map(|ms| ms.div_euclid(1_000)).collect();
    let is_gapless = seconds.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let late = began.iter().map(|ms| Duration::from_millis(ms.rem_euclid(1_000).unsigned_abs()));
    let late: Times = late.collect();
    let figures = format!("{} in {} s; late {late}", items.len(), span(&seconds));
    let passed = came >= OCCURRENCES && is_gapless;
    report.check("each occurrence starts one instance", passed, &figures, late.json());
    Ok(())
}

/// The number of seconds from the first to the last, both included.
fn span(seconds: &[i64]) -> i64 {
    match (seconds.first(), seconds.last()) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    }
}
