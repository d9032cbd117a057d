//! Resumes that come at the moment of suspension.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::{HeaderMap, Message, Subscriber};
use futures::{StreamExt as _, stream};
use model::SubStatus;
use serde_json::{Value, json};
use testkit::eventually;
use tokio::time::{Instant, sleep};

use crate::callee::Callee;
use crate::ledger::Ledger;
use crate::scale::{pick, turn};
use crate::traffic::{publish, publish_with};
use crate::workflow::Names;
use crate::world::{World, all_roles};

/// The number of resumes of one round.
const RESUMES: usize = 1_000;
/// The number of starts whose resume is not sent yet.
const AT_ONCE: usize = 64;
/// The time in which all rows are handled: before a sweep would look at them.
const SETTLED_MAX: Duration = Duration::from_secs(15);

/// G9: a resume that comes before, at, or after the suspension is not lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_resume_at_the_moment_of_suspension_is_lost_g9() {
    let nodes = vec![all_roles("one"), all_roles("two")];
    let Some(world) = World::start(1, nodes).await else { return };
    let callee = Callee::start().await;
    let client = world.client().await;
    let jetstream = async_nats::jetstream::new(client.clone());
    let ledger = Ledger::new(&world, jetstream.clone(), &callee, Names::new("wakeup"));
    let rounds = pick(1, if turn().is_some() { 20 } else { 100 });
    let (mut early, mut spread, mut slowest) = (0, Duration::from_millis(20), Duration::ZERO);
    let began = Instant::now();
    for round in 0..rounds {
        let tag = format!("w{round}");
        world.api(0).publish(&Names::waiting(&tag)).await;
        let name = format!("waiting-{tag}");
        let answers = client.subscribe(format!("staunch.reply.{name}")).await.unwrap();
        let came_early = tokio::spawn(count_early(answers));
        fire(&jetstream, &name, spread).await;
        let fired = Instant::now();
        ledger.all_are(&name, SubStatus::Finished, RESUMES).await;
        slowest = slowest.max(fired.elapsed());
        assert_eq!(ledger.resumed_once(&name, RESUMES).await, RESUMES);
        let what = "what is kept is applied, and what is published is removed";
        eventually(what, SETTLED_MAX, async || ledger.leftovers().await == 0).await;
        // The next round uses this to have about as many early as late resumes.
        let came_early = came_early.await.unwrap();
        early += came_early;
        spread = match came_early * 2 > RESUMES {
            true => spread.mul_f64(1.3),
            false => spread.mul_f64(0.8),
        };
    }
    let total = rounds * RESUMES;
    println!(
        "G9: {total} resumes around the moment of suspension in {:.0?}, {early} of them before \
         it; {total} applied once, 0 lost, 0 stuck; the last of a round {slowest:.1?} after it \
         was sent",
        began.elapsed()
    );
    assert!(early > 0 && early < total, "{early} of {total} came early: no race");
}

/// The number of responses that report that the event came before the instance waited.
async fn count_early(answers: Subscriber) -> usize {
    let is_early = async |answer: Message| {
        let outcome: Value = serde_json::from_slice(&answer.payload).unwrap();
        (outcome["refusal"] == "waiting").then_some(())
    };
    answers.take(RESUMES).filter_map(is_early).count().await
}

/// Starts instances, each followed by an event for it after up to `spread`.
async fn fire(jetstream: &Context, definition: &str, spread: Duration) {
    let name = Arc::new(definition.to_owned());
    let pairs = stream::iter(0..RESUMES).map(|number| {
        let (jetstream, name) = (jetstream.clone(), Arc::clone(&name));
        async move {
            let id = format!("{name}-{number}");
            let body = json!({"instanceId": id}).to_string();
            let subject = format!("staunch.cmd.start.{name}");
            publish(&jetstream, &subject, &format!("start-{id}"), &body).await;
            // Every delay of the range, in shuffled order.
            let share = (number * 617 % RESUMES) as f64 / RESUMES as f64;
            sleep(spread.mul_f64(2.0 * share)).await;
            let subject = format!("staunch.cmd.event.go-{name}");
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Msg-Id", format!("go-{id}"));
            headers.insert("Staunch-Reply-To", format!("staunch.reply.{name}"));
            publish_with(&jetstream, &subject, headers, &body).await;
        }
    });
    pairs.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}
