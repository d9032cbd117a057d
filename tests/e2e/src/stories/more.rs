//! More executors carry more.

use std::time::Duration;

use cluster::NodePlan;
use serde_json::json;
use testkit::eventually;

use crate::api::Api;
use crate::other_side::Closed;
use crate::workflow::{line, sequence};
use crate::world::World;

const SOON: Duration = Duration::from_secs(60);
/// Bursts at once of each executor; it works on four times as many commands.
const BURSTS: &str = "2";
const EACH: usize = 8;
const EXECUTORS: usize = 3;

fn executor(name: &str, roles: &str) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    let settings = ["--executor-concurrency", BURSTS, "--allow-private-addresses"];
    plan.arguments.extend(settings.map(str::to_owned));
    plan
}

/// Each executor that joins takes as many calls as the first one, of the instances that wait for it;
/// none takes more than it is allowed. (How many instances that makes in a second is for the bench.)
pub(crate) async fn each_executor_that_joins_carries_as_much_as_the_first(world: World) {
    let callee = Closed::start().await;
    let first = world.start(executor("executor-1", "all")).await;
    let api = Api::new(&first.url());
    let call = json!({"type": "SendHttpRequest", "id": "call", "url": callee.url});
    api.publish(&sequence("calls", &[call, line("over", "'over'")])).await;
    let count = EACH * (EXECUTORS + 1);
    for _ in 0..count {
        let accepted = api.post("/workflow-definitions/calls/dispatch", &json!({})).await;
        assert!((200..300).contains(&accepted.status), "{accepted:?}");
    }
    let mut executors = vec![first];
    for number in 1..=EXECUTORS {
        if number > 1 {
            let joining = executor(&format!("executor-{number}"), "executor");
            executors.push(world.start(joining).await);
        }
        let carried = number * EACH;
        eventually(&format!("{number} executors make {carried} calls"), SOON, async || {
            callee.asked() >= carried
        })
        .await;
        assert_eq!(callee.asked(), carried, "calls of {number} executors");
        println!("{number} executors: {carried} of {count} instances in progress");
    }
    callee.open();
    eventually("all instances end", SOON, async || {
        api.count("calls", Some("Finished")).await == count as u64
    })
    .await;
    assert_eq!(callee.asked(), count, "each called once");
}
