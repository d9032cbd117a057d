//! Part 6, the distributed lock: of many simultaneous resumes of one instance exactly one wins, and
//! leases are acquired in time.

use std::collections::BTreeMap;
use std::time::Duration;

use api_client::{Failure, Histogram, Kind, text};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Arena;
use crate::figure::Times;
use crate::report::Report;
use crate::runtime::{count_of, nodes_of, shares};
use crate::site::Site;
use crate::workflow;

/// The number of simultaneous resumes of one instance.
const CALLERS: usize = 50;
/// The number of instances, one after the other.
const ROUNDS: usize = 12;
/// The limit that Elsa's guide gives for locks in Redis.
const LEASE_MAX: Duration = Duration::from_millis(100);
/// A lease may take this many times as long as one write of a key that nobody else wants, at the
/// same time on the same broker: it is asked for, waited for, and handed on.
const WRITES_MAX: u32 = 5;
/// The time between two writes that are measured.
const WRITE_EVERY: Duration = Duration::from_millis(10);
const LEASE: &str = "staunch_lease_wait_seconds";

/// The result of one round.
struct Round {
    /// The nodes that answered that the resume was applied.
    said: Vec<String>,
    /// The nodes that ran the resumed burst.
    ran: Vec<String>,
    times: Vec<Duration>,
    wrong: Vec<String>,
}

pub(crate) async fn run(
    site: &Site,
    arena: Option<&(dyn Arena + 'static)>,
    report: &mut Report,
) -> Result<(), Failure> {
    let definition = site.name("contended");
    site.publish(site.any(0), &workflow::waiting(&definition)).await?;
    report.doing(&format!("{CALLERS} simultaneous resumes of one instance, {ROUNDS} times"));
    let before = site.readings().await?;
    let (mut said, mut ran) = (BTreeMap::new(), BTreeMap::new());
    let (mut times, mut wrong) = (Vec::new(), Vec::new());
    let rounds = async {
        for number in 0..ROUNDS {
            let round = round(site, &definition, number).await?;
            round.said.into_iter().for_each(|node| *said.entry(node).or_insert(0_usize) += 1);
            round.ran.into_iter().for_each(|node| *ran.entry(node).or_insert(0_usize) += 1);
            times.extend(round.times);
            wrong.extend(round.wrong);
        }
        Ok::<_, Failure>(())
    };
    let writes = beside(rounds, arena).await?;
    let after = site.readings().await?;
    let times: Times = times.into_iter().collect();
    let wrong_text =
        if wrong.is_empty() { String::new() } else { format!("; {}", wrong.join(", ")) };
    let figures = format!("{ROUNDS} rounds of {CALLERS}; answered {times}{wrong_text}");
    report.check("exactly one resume wins", wrong.is_empty(), &figures, times.json());
    let figures = format!("callers at {}; ran on {}", shares(&said), shares(&ran));
    report.check("who won", true, &figures, json!({"callersAt": said, "ranOn": ran}));
    let each = before.iter().zip(&after).map(|(before, after)| after.histogram(before, LEASE));
    leases(each.fold(Histogram::default(), |all, one| all.and(&one)), writes, report);
    Ok(())
}

/// Runs the rounds, and measures meanwhile what this broker does at best on this machine: a busy
/// machine is slow for both.
async fn beside(
    rounds: impl Future<Output = Result<(), Failure>>,
    arena: Option<&(dyn Arena + 'static)>,
) -> Result<Option<Times>, Failure> {
    let Some(arena) = arena else { return rounds.await.map(|()| None) };
    let stop = CancellationToken::new();
    let rounds = async {
        let ended = rounds.await;
        stop.cancel();
        ended
    };
    let (ended, writes) = tokio::join!(rounds, arena.write_keys(WRITE_EVERY, &stop));
    ended?;
    Ok(Some(writes?.into_iter().collect()))
}

fn leases(waits: Histogram, writes: Option<Times>, report: &mut Report) {
    const NAME: &str = "a lease is taken in time at p99";
    if waits.count() == 0.0 {
        report.skip(NAME, "the nodes named run no workflows, so they have no figures");
        return;
    }
    let best = writes.filter(|times| times.len() > 0).map(|times| times.at(0.99));
    let bound = best.map_or(LEASE_MAX, |best| LEASE_MAX.max(best * WRITES_MAX));
    let best_text =
        best.map(|best| format!("; a write alone {:.1} ms at p99", best.as_secs_f64() * 1_000.0));
    let bound = waits.rounded_up(bound.as_secs_f64());
    let bound_ms = bound * 1_000.0;
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|part| waits.at(part));
    let text =
        |(lower, upper): (f64, f64)| format!("{} to {} ms", lower * 1_000.0, upper * 1_000.0);
    let figures = format!(
        "{} leases; p50 {}, p95 {}, p99 {}; within {bound_ms} ms: {:.1} %{}",
        waits.count(),
        text(p50),
        text(p95),
        text(p99),
        waits.within(bound) * 100.0,
        best_text.unwrap_or_default()
    );
    let ms = |(_, upper): (f64, f64)| upper * 1_000.0;
    let data = json!({
        "count": waits.count(), "boundMs": bound_ms,
        "p50MsMax": ms(p50), "p95MsMax": ms(p95), "p99MsMax": ms(p99),
    });
    report.check(NAME, waits.within(bound) >= 0.99, &figures, data);
}

async fn round(site: &Site, definition: &str, number: usize) -> Result<Round, Failure> {
    let id = site.dispatch(site.any(number), definition, number).await?;
    let instance = site.reaches(site.any(number), &id, |status| status == "Suspended").await?;
    let bookmark = text(&instance["workflowState"]["bookmarks"][0], "id");
    let body = json!({"bookmarkId": bookmark});
    let path = format!("/workflow-instances/{id}/resume");
    let calls = (0..CALLERS).map(|caller| {
        let member = &site.members[caller % site.members.len()];
        let (body, path) = (&body, &path);
        async move {
            let began = Instant::now();
            let answer = member.client.post(path, body).await;
            (member.node.clone(), began.elapsed(), answer)
        }
    });
    let mut round =
        Round { said: Vec::new(), ran: Vec::new(), times: Vec::new(), wrong: Vec::new() };
    for (node, took, answer) in futures::future::join_all(calls).await {
        round.times.push(took);
        match answer {
            Ok(answer) if answer.status == 200 => round.said.push(node),
            // The answer is that the instance still runs: this resume was not applied.
            Ok(_) => {}
            Err(failure) if failure.kind == Kind::Conflict => {}
            Err(failure) => round.wrong.push(format!("{id} at {node}: {failure}")),
        }
    }
    if round.said.len() != 1 {
        round.wrong.push(format!("{id}: {} callers won", round.said.len()));
    }
    site.reaches(site.any(number), &id, super::site::is_final).await?;
    let journal = site.journals(std::slice::from_ref(&id)).await?.remove(0);
    let resumed = count_of(&journal, "Resumed");
    if (resumed, count_of(&journal, "Line")) != (1, 1) {
        round.wrong.push(format!("{id} was resumed {resumed} times"));
    }
    round.ran = after_the_first(&journal);
    Ok(round)
}

/// The nodes that ran the bursts after the first.
fn after_the_first(journal: &[Value]) -> Vec<String> {
    nodes_of(journal).into_iter().skip(1).collect()
}
