//! Part 4, failover: a node is killed while it works, and the others finish its work.

use std::sync::Arc;
use std::time::Duration;

use api_client::{Failure, text};
use chassis::{Clock as _, SystemClock};
use model::Timestamp;
use serde_json::{Value, json};

use crate::Arena;
use crate::figure::{Times, many, short};
use crate::load::{HURRIED, Load, Tally};
use crate::report::Report;
use crate::runtime::count_of;
use crate::site::{SOON, Site};
use crate::{timers, workflow};

const CALLERS: usize = 32;
/// The number of executions before the kill, and after it.
const WARM_UP: usize = 200;
/// The number of timers that are pending at the kill, and their wait.
const TIMERS: usize = 30;
const TIMER_SECONDS: u64 = 3;
/// The longest time in which the work of a dead node must continue elsewhere.
const TAKEOVER_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(
    site: &Arc<Site>,
    arena: Option<&mut (dyn Arena + 'static)>,
    report: &mut Report,
) -> Result<(), Failure> {
    let Some(arena) = arena else {
        report.skip(
            "a killed node's work runs elsewhere",
            "nodes that others started are not killed: use --local",
        );
        return Ok(());
    };
    let (load, delayed) = (site.name("failover"), site.name("failover-timers"));
    site.publish(site.any(0), &workflow::quick(&load, 1)).await?;
    site.publish(site.any(0), &workflow::delayed(&delayed, TIMER_SECONDS)).await?;
    let victim = site.members.len() - 1;
    let name = site.members[victim].node.clone();
    report.doing(&format!("{CALLERS} callers and {TIMERS} timers, then kill -9 {name}"));
    // Callers of the killed node would only see that it is gone. The check counts the work that the
    // node had taken from callers of the other nodes.
    site.set_out(victim, true);
    let running = Load::begin(site, &load, CALLERS, HURRIED);
    let pending = timers::begin(site, &delayed, TIMERS).await?;
    running.more(WARM_UP).await?;
    arena.kill(victim)?;
    let killed = SystemClock.now();
    running.more(WARM_UP).await?;
    let tally = running.end().await;
    executions(site, &load, &tally, killed, report).await?;
    pending_timers(site, &delayed, &pending, report).await?;
    arena.restart(victim).await?;
    site.set_out(victim, false);
    Ok(())
}

async fn executions(
    site: &Site,
    definition: &str,
    tally: &Tally,
    killed: Timestamp,
    report: &mut Report,
) -> Result<(), Failure> {
    let kept = site.count(definition, None).await?;
    let mut twice = Vec::new();
    for (id, journal) in tally.ids.iter().zip(site.journals(&tally.ids).await?) {
        let lines = count_of(&journal, "Line");
        if lines != 1 {
            twice.push(format!("{id} ran {lines} times"));
        }
    }
    let astray: Vec<_> = tally.failures.iter().chain(&twice).map(String::as_str).collect();
    let figures = format!(
        "{} accepted, {} finished once {}",
        tally.ids.len(),
        tally.times.len(),
        astray.join(", ")
    );
    let all = tally.ids.len() as u64 == kept && astray.is_empty();
    report.check(
        "nothing is lost, nothing runs twice",
        all,
        figures.trim_end(),
        json!({"kept": kept}),
    );
    // Executions that were running at the kill, and when they ended after it.
    let after = under_way(site, definition, killed).await?;
    // Without any, the check proves nothing.
    let within = after.len() > 0 && after.at(0.99) <= TAKEOVER_MAX;
    let figures = format!(
        "{} under way at the kill; they ended after it: {after}; limit {}",
        many(after.len(), "execution"),
        short(TAKEOVER_MAX)
    );
    report.check("a killed node's work runs elsewhere", within, &figures, after.json());
    Ok(())
}

/// For each execution that began before this moment and ended after it: the time until its end.
async fn under_way(site: &Site, definition: &str, moment: Timestamp) -> Result<Times, Failure> {
    const SIZE: usize = 500;
    let mut times = Vec::new();
    for page in 0.. {
        let body = json!({
            "definitionId": definition, "page": page, "pageSize": SIZE,
            "orderBy": "Finished", "orderDirection": "Descending",
        });
        let answer = site.any(0).post("/workflow-instances", &body).await?;
        let items = answer.body["items"].as_array().cloned().unwrap_or_default();
        for item in &items {
            let at = |name| Timestamp::parse(&text(item, name)).ok();
            let (Some(created), Some(finished)) = (at("createdAt"), at("finishedAt")) else {
                continue;
            };
            if created <= moment && finished > moment {
                times.push(finished.since(moment));
            }
        }
        let is_past = items.last().is_some_and(|item: &Value| {
            let finished = Timestamp::parse(&text(item, "finishedAt"));
            finished.is_ok_and(|finished| finished <= moment)
        });
        if items.len() < SIZE || is_past {
            break;
        }
    }
    Ok(times.into_iter().collect())
}

async fn pending_timers(
    site: &Site,
    definition: &str,
    ids: &[String],
    report: &mut Report,
) -> Result<(), Failure> {
    let finished = site.finished(definition, ids.len(), SOON).await?;
    let waits = timers::waits(site, ids, Duration::from_secs(TIMER_SECONDS)).await?;
    let passed = finished == ids.len() && waits.early == 0 && waits.other.is_empty();
    let figures = format!(
        "{finished} of {} once, {} early; late {} {}",
        ids.len(),
        waits.early,
        waits.late,
        waits.other.join(", ")
    );
    let name = "timers pending at the kill fire once";
    report.check(name, passed, figures.trim_end(), waits.late.json());
    Ok(())
}
