//! Part 1, the distributed runtime: every node accepts starts and runs work, and each instance runs
//! once, whichever node accepted it.

use std::collections::BTreeMap;
use std::time::Duration;

use api_client::{Failure, text};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::figure::{Times, many, short};
use crate::report::Report;
use crate::site::{AT_ONCE, Ended, SOON, Site};
use crate::workflow;

/// The number of instances that are started through each node in one round.
const EACH: usize = 40;
/// The largest number of rounds until every node has run something.
const ROUNDS_MAX: usize = 5;

pub(crate) async fn run(site: &Site, report: &mut Report) -> Result<(), Failure> {
    through_every_node(site, report).await?;
    from_node_to_node(site, report).await
}

async fn through_every_node(site: &Site, report: &mut Report) -> Result<(), Failure> {
    let definition = site.name("runtime");
    site.publish(site.any(0), &workflow::quick(&definition, 1)).await?;
    let mut times = Vec::new();
    let mut ran = BTreeMap::new();
    let (mut ids, mut astray) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS_MAX {
        let count = EACH * site.members.len();
        report.doing(&format!("{count} instances, {EACH} through each node"));
        let begun = (0..count).map(|number| format!("{definition}-{round}-{number}"));
        let begun: Vec<String> = begun.collect();
        for (took, ended) in all(site, &definition, &begun).await? {
            times.push(took);
            if ended.status != "Finished" {
                astray.push(ended.status);
            }
        }
        for (id, journal) in begun.iter().zip(site.journals(&begun).await?) {
            let lines = count_of(&journal, "Line");
            if lines != 1 {
                astray.push(format!("{id} ran {lines} times"));
            }
            for node in nodes_of(&journal) {
                *ran.entry(node).or_insert(0_usize) += 1;
            }
        }
        ids.extend(begun);
        if site.executors.iter().all(|node| ran.contains_key(node)) {
            break;
        }
    }
    let kept = site.count(&definition, None).await?;
    let once = astray.is_empty() && kept == ids.len() as u64;
    let times: Times = times.into_iter().collect();
    let wrong = if once { String::new() } else { format!("; {kept} kept; {}", astray.join(", ")) };
    let figures = format!("{} of {}; {times}{wrong}", ids.len() - astray.len(), ids.len());
    report.check("each instance runs once", once, &figures, times.json());
    let idle = site.executors.iter().filter(|node| !ran.contains_key(*node));
    let idle: Vec<_> = idle.map(String::as_str).collect();
    let idle_text =
        if idle.is_empty() { String::new() } else { format!("; idle: {}", idle.join(", ")) };
    let figures = format!("{}{idle_text}", shares(&ran));
    report.check("every node runs some", idle.is_empty(), &figures, json!(ran));
    Ok(())
}

/// Runs these instances, each through the next node.
async fn all(
    site: &Site,
    definition: &str,
    ids: &[String],
) -> Result<Vec<(Duration, Ended)>, Failure> {
    let runs = ids.iter().enumerate().map(|(number, id)| {
        let run = async move {
            let began = Instant::now();
            let ended = site.execute(site.any(number), definition, id).await?;
            Ok((began.elapsed(), ended))
        };
        run.boxed()
    });
    let runs: Vec<_> = runs.collect();
    let all: Vec<Result<_, Failure>> = stream::iter(runs).buffer_unordered(AT_ONCE).collect().await;
    all.into_iter().collect()
}

async fn from_node_to_node(site: &Site, report: &mut Report) -> Result<(), Failure> {
    const NAME: &str = "started at one node, resumed at another";
    let [first, second, ..] = &site.members[..] else {
        report.skip(NAME, "only one node was named");
        return Ok(());
    };
    let definition = site.name("resumed");
    site.publish(&first.client, &workflow::waiting(&definition)).await?;
    let id = site.dispatch(&first.client, &definition, 1).await?;
    site.reaches(&first.client, &id, |status| status == "Suspended").await?;
    let began = Instant::now();
    second.client.post(&format!("/workflow-instances/{id}/resume"), &json!({})).await?;
    let took = began.elapsed();
    let finished = site.finished(&definition, 1, SOON).await?;
    let journal = site.journals(&[id]).await?.remove(0);
    let ran = nodes_of(&journal).join(", then ");
    let figures = format!(
        "started at {}, resumed at {} in {}; ran on {ran}",
        first.node,
        second.node,
        short(took)
    );
    let once = finished == 1 && count_of(&journal, "Line") == 1;
    report.check(NAME, once, &figures, json!({"tookMs": took.as_secs_f64() * 1_000.0, "ran": ran}));
    Ok(())
}

/// The number of a journal's lines with this event.
pub(crate) fn count_of(journal: &[Value], event: &str) -> usize {
    journal.iter().filter(|entry| entry["eventName"] == event).count()
}

/// The node that ran each burst, in order.
pub(crate) fn nodes_of(journal: &[Value]) -> Vec<String> {
    let signed = journal.iter().map(|entry| text(entry, "node"));
    signed.filter(|node| !node.is_empty()).collect()
}

/// `node-1 40, node-2 41`
pub(crate) fn shares(counts: &BTreeMap<String, usize>) -> String {
    if counts.is_empty() {
        return many(0, "node");
    }
    let shares = counts.iter().map(|(node, count)| format!("{node} {count}"));
    shares.collect::<Vec<_>>().join(", ")
}
