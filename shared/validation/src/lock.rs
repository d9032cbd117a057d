//! Part 6, the distributed lock: of many simultaneous resumes of one instance exactly one wins, and
//! leases are acquired in time.

use std::collections::BTreeMap;
use std::time::Duration;

use api_client::{Failure, Histogram, Kind, text};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

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
/// A lease may take this many times as long as the nodes need for a question of readiness at the same time,
/// for which they ask the broker and the database: a lease is asked for, waited for, and handed on.
const QUESTIONS_MAX: u32 = 5;
/// The time between two questions of readiness.
const QUESTION_EVERY: Duration = Duration::from_millis(10);
/// Of fewer leases than this, p99 is the slowest one, which says how busy the machine was at one moment:
/// one of them may be late.
const LEASES_FOR_P99: f64 = 100.0;
/// Of fewer leases than this none may be late.
const LEASES_FOR_LATE: f64 = 10.0;
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

pub(crate) async fn run(site: &Site, report: &mut Report) -> Result<(), Failure> {
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
    let answers = beside(rounds, site).await?;
    let after = site.readings().await?;
    let times: Times = times.into_iter().collect();
    let wrong_text =
        if wrong.is_empty() { String::new() } else { format!("; {}", wrong.join(", ")) };
    let figures = format!("{ROUNDS} rounds of {CALLERS}; answered {times}{wrong_text}");
    report.check("exactly one resume wins", wrong.is_empty(), &figures, times.json());
    let figures = format!("callers at {}; ran on {}", shares(&said), shares(&ran));
    report.check("who won", true, &figures, json!({"callersAt": said, "ranOn": ran}));
    let each = before.iter().zip(&after).map(|(before, after)| after.histogram(before, LEASE));
    leases(each.fold(Histogram::default(), |all, one| all.and(&one)), &answers, report);
    Ok(())
}

/// Runs the rounds, and asks the nodes meanwhile whether they are ready: a busy machine is slow for both.
async fn beside(
    rounds: impl Future<Output = Result<(), Failure>>,
    site: &Site,
) -> Result<Times, Failure> {
    let stop = CancellationToken::new();
    let rounds = async {
        let ended = rounds.await;
        stop.cancel();
        ended
    };
    let (ended, answers) = tokio::join!(rounds, questions(site, &stop));
    ended?;
    Ok(answers.into_iter().collect())
}

/// Asks one node after the other whether it is ready, for which it asks the broker and the database,
/// until `stop`; returns how long each answer took.
async fn questions(site: &Site, stop: &CancellationToken) -> Vec<Duration> {
    let mut ticks = tokio::time::interval(QUESTION_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut times = Vec::new();
    for number in 0.. {
        if stop.run_until_cancelled(ticks.tick()).await.is_none() {
            break;
        }
        let began = Instant::now();
        let is_ready = stop.run_until_cancelled(site.any(number).is_ready()).await;
        if is_ready == Some(true) {
            times.push(began.elapsed());
        }
    }
    times
}

fn leases(waits: Histogram, answers: &Times, report: &mut Report) {
    const NAME: &str = "a lease is taken in time at p99";
    if waits.count() == 0.0 {
        report.skip(NAME, "the nodes named run no workflows, so they have no figures");
        return;
    }
    let answer = (answers.len() > 0).then(|| answers.at(0.99));
    let bound = answer.map_or(LEASE_MAX, |answer| LEASE_MAX.max(answer * QUESTIONS_MAX));
    let answer_text = answer.map(|answer| {
        format!("; an answer of readiness {:.1} ms at p99", answer.as_secs_f64() * 1_000.0)
    });
    let bound = waits.rounded_up(bound.as_secs_f64());
    let bound_ms = bound * 1_000.0;
    let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|part| waits.at(part));
    let text =
        |(lower, upper): (f64, f64)| format!("{} to {} ms", lower * 1_000.0, upper * 1_000.0);
    let count = waits.count();
    let within = waits.within(bound);
    let late = (count * (1.0 - within)).round();
    let may_be_late = (LEASES_FOR_LATE..LEASES_FOR_P99).contains(&count);
    let is_straggler = late == 1.0 && may_be_late;
    let late_text = if is_straggler {
        let most = LEASES_FOR_P99 - 1.0;
        format!("; 1 of {count} is late, as one may be of {LEASES_FOR_LATE} to {most} leases")
    } else {
        String::new()
    };
    let figures = format!(
        "{count} leases; p50 {}, p95 {}, p99 {}; within {bound_ms} ms: {:.1} %{late_text}{}",
        text(p50),
        text(p95),
        text(p99),
        within * 100.0,
        answer_text.unwrap_or_default()
    );
    let ms = |(_, upper): (f64, f64)| upper * 1_000.0;
    let data = json!({
        "count": count, "boundMs": bound_ms, "late": late,
        "p50MsMax": ms(p50), "p95MsMax": ms(p95), "p99MsMax": ms(p99),
    });
    report.check(NAME, within >= 0.99 || is_straggler, &figures, data);
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

#[cfg(test)]
mod tests {
    use api_client::{Client, Reading};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::report::CheckResult;

    #[test]
    fn a_lease_is_compared_with_what_the_nodes_answer_at_the_same_time() {
        let text =
            "x_bucket{le=\"0.1\"} 80\nx_bucket{le=\"0.25\"} 100\nx_bucket{le=\"+Inf\"} 100\n";
        let waits = Reading::parse(text).histogram(&Reading::default(), "x");
        let judged = |times: &[u64]| {
            let times: Times = times.iter().copied().map(Duration::from_millis).collect();
            let mut report = Report::new(|_| {});
            leases(waits.clone(), &times, &mut report);
            (report.checks()[0].result, report.checks()[0].figures.clone())
        };
        let (quick, slow) = (judged(&[10; 20]), judged(&[50; 20]));
        assert_eq!(quick.0, CheckResult::Failed, "{}", quick.1);
        assert!(
            quick.1.ends_with("within 100 ms: 80.0 %; an answer of readiness 10.0 ms at p99"),
            "{}",
            quick.1
        );
        assert_eq!(slow.0, CheckResult::Passed, "{}", slow.1);
        assert_eq!(judged(&[]).0, CheckResult::Failed);
    }

    #[test]
    fn one_late_lease_of_fewer_than_a_hundred_is_said_and_fails_nothing() {
        let judged = |within: u32, count: u32| {
            let text = format!(
                "x_bucket{{le=\"0.1\"}} {within}\nx_bucket{{le=\"0.5\"}} {count}\n\
                 x_bucket{{le=\"+Inf\"}} {count}\n"
            );
            let waits = Reading::parse(&text).histogram(&Reading::default(), "x");
            let mut report = Report::new(|_| {});
            leases(waits, &Times::default(), &mut report);
            (report.checks()[0].result, report.checks()[0].figures.clone())
        };
        let allowed = "; 1 of 17 is late, as one may be of 10 to 99 leases";
        let (result, figures) = judged(16, 17);
        assert_eq!(result, CheckResult::Passed, "{figures}");
        assert!(figures.ends_with(&format!("within 100 ms: 94.1 %{allowed}")), "{figures}");
        for (within, count) in [(17, 17), (9, 10), (98, 99), (99, 100), (198, 200)] {
            let (result, figures) = judged(within, count);
            assert_eq!(result, CheckResult::Passed, "{figures}");
            assert_eq!(figures.contains(" is late"), within < count && count < 100, "{figures}");
        }
        for (within, count) in [(15, 17), (8, 9), (97, 99), (98, 100), (197, 200)] {
            let (result, figures) = judged(within, count);
            assert_eq!(result, CheckResult::Failed, "{figures}");
            assert!(!figures.contains(" is late"), "{figures}");
        }
    }

    /// Answers every request.
    async fn answer(listener: &TcpListener) {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            drop(stream.read(&mut head).await);
            let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            drop(stream.write_all(text.as_bytes()).await);
        }
    }

    #[tokio::test]
    async fn nodes_are_asked_beside_the_rounds() {
        // Another test may have set it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let site = Site::of(Client::to(&url, None).unwrap());
        let rounds = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(())
        };
        let answers = tokio::select! {
            answers = beside(rounds, &site) => answers.unwrap(),
            () = answer(&listener) => panic!("nobody answers"),
        };
        assert!(answers.len() > 0);
    }
}
