//! The executor of a demo can be killed over HTTP, one at a time, and there is none elsewhere.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, waits_for, writes_line};
use crate::{Config, Demo, DemoExecutor, Stand, Standing};

const DEMO: &str = "/elsa/api/demo";
const KILL: &str = "/elsa/api/demo/executors/kill";
const INSTANCES: &str = "/elsa/api/workflow-instances";

fn executor(number: u32) -> DemoExecutor {
    DemoExecutor { node: format!("executor-{number}"), pid: 4_000 + number }
}

async fn begun() -> (World, Stand) {
    let (demo, stand) = Demo::open();
    let answer_time_max = Duration::from_secs(10);
    let config = Config { demo: Some(demo), answer_time_max, ..Config::default() };
    (World::with(config).await, stand)
}

/// A moment, so that two things are not at the same millisecond. The clock is paused.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Kills the executor as the demo does, while somebody asks for it.
async fn killed(world: &World, stand: &mut Stand, executor: DemoExecutor) -> Value {
    let nothing = json!({});
    let (answer, ()) = tokio::join!(world.post(KILL, &nothing), async {
        let wish = stand.wish().await.unwrap();
        // While one is being killed, nobody else gets a turn.
        let detail = world.post(KILL, &nothing).await.problem(409);
        assert!(detail.contains("try again in a moment"), "{detail}");
        stand.is(Standing::Replacing);
        wish.done(executor);
    });
    answer.expect(200)
}

#[tokio::test]
async fn nothing_can_be_killed_where_there_is_no_demo() {
    let world = World::new().await;
    let nothing = json!({"isDemo": false, "state": null, "executor": null, "lastKill": null});
    assert_eq!(world.get(DEMO).await.expect(200), nothing);
    let detail = world.post(KILL, &json!({})).await.problem(404);
    assert!(detail.contains("this is no demo"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn an_executor_is_killed_and_the_figures_say_what_became_of_the_instances() {
    let (world, mut stand) = begun().await;
    assert_eq!(world.get(DEMO).await.expect(200)["state"], "Showing");
    let detail = world.post(KILL, &json!({})).await.problem(409);
    assert!(detail.contains("still shows its own steps"), "{detail}");

    world.publish("waits", waits_for("go")).await;
    world.publish("line", writes_line()).await;
    let (first, _second) = (world.begin("waits").await, world.begin("waits").await);
    stand.is(Standing::Running(executor(1)));
    let shown = world.get(DEMO).await.expect(200);
    assert_eq!(shown["executor"], json!({"node": "executor-1", "processId": 4_001}), "{shown}");
    assert_eq!(shown["lastKill"], Value::Null);
    a_moment().await;

    let answer = killed(&world, &mut stand, executor(1)).await;
    assert_eq!((&answer["state"], &answer["executor"]), (&json!("Replacing"), &Value::Null));
    let kill = &answer["lastKill"];
    assert_eq!(kill["killed"], json!({"node": "executor-1", "processId": 4_001}), "{answer}");
    let figures = |kill: &Value| {
        ["instancesBefore", "instancesKept", "instancesMovedOn", "startedSince", "finishedSince"]
            .map(|name| kill[name].as_u64().unwrap())
    };
    assert_eq!(figures(kill), [2, 2, 0, 0, 0]);
    world.post(KILL, &json!({})).await.problem(409);

    a_moment().await;
    stand.is(Standing::Running(executor(2)));
    world.post(&format!("{INSTANCES}/{first}/resume"), &json!({})).await.expect(200);
    world.until(&first, "Finished").await;
    let line = world.begin("line").await;
    world.until(&line, "Finished").await;
    let shown = world.get(DEMO).await.expect(200);
    assert_eq!(shown["executor"]["node"], "executor-2");
    assert_eq!(figures(&shown["lastKill"]), [2, 2, 1, 1, 2], "{shown}");

    a_moment().await;
    let again = killed(&world, &mut stand, executor(2)).await;
    assert_eq!(again["lastKill"]["killed"]["node"], "executor-2", "{again}");
    let audit = world.get("/elsa/api/audit").await.expect(200).to_string();
    assert!(audit.contains("demo.kill-executor") && audit.contains("executor-1"), "{audit}");
}

#[tokio::test(start_paused = true)]
async fn a_wish_for_which_nobody_waits_any_more_kills_nothing() {
    let (world, mut stand) = begun().await;
    stand.is(Standing::Running(executor(1)));
    // The demo does not look: the request ends after its bound.
    let detail = world.post(KILL, &json!({})).await.problem(503);
    assert!(detail.contains("does not answer"), "{detail}");
    world.post(KILL, &json!({})).await.problem(409);
    let waits = tokio::time::timeout(Duration::from_secs(60), stand.wish()).await;
    assert!(waits.is_err(), "the wish of a request that has ended");
    let answer = killed(&world, &mut stand, executor(1)).await;
    assert_eq!(answer["lastKill"]["killed"]["node"], "executor-1", "{answer}");
    stand.is(Standing::Running(executor(2)));
    drop(stand);
    world.post(KILL, &json!({})).await.problem(503);
}
