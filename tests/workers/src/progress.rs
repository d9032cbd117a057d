//! What a handler says of how far its task is.

use async_nats::Subscriber;
use futures::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use staunch_client::token;
use testkit::{eventually, within};

use crate::gate::Door;
use crate::process::Process;
use crate::scenario::{COMMANDS, Scene};
use crate::world::PATIENCE;

/// What is in the body of a message about progress, and of no command here.
const MEMBER: &str = "\"progress\":";

pub(crate) async fn the_progress_of_a_task_is_heard_in_order(scene: &Scene) {
    let (_worker, prefix) = scene.worker("progress");
    let (world, kind) = (&scene.world, format!("{prefix} progress"));
    // What the stream of the commands takes is published below this.
    let mut commands = world.nats.subscribe("staunch.cmd.>").await.unwrap();
    let progress = format!("staunch.task-progress.{}.1.*", token(&kind));
    let mut progress = world.nats.subscribe(progress).await.unwrap();
    world.nats.flush().await.unwrap();
    let mut steps: Vec<_> = (0..40).map(|number| json!({"percent": number})).collect();
    steps.extend([json!(null), json!(0.5), json!("ä \"\n"), json!([1, [true]])]);

    let (task, instance) = world.hand_out(&kind, json!({"steps": steps})).await;
    for step in &steps {
        let expected = json!({
            "taskId": task, "taskType": kind, "taskVersion": 1, "workflowInstanceId": instance,
            "attempt": 1, "progress": step,
        });
        let message = within("the progress of the task", PATIENCE, progress.next()).await.unwrap();
        let body = String::from_utf8_lossy(&message.payload);
        assert!(body.contains(MEMBER), "{body}");
        let said: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(said, expected);
        assert!(message.subject.ends_with(&format!(".1.{}", token(&task))), "{}", message.subject);
        let headers = message.headers.unwrap();
        for (name, value) in [
            ("Staunch-Task", task.as_str()),
            ("Staunch-Instance", &instance),
            ("Staunch-Attempt", "1"),
        ] {
            assert_eq!(headers.get(name).unwrap().as_str(), value, "{name}");
        }
    }
    let result = world.over(&instance, "Finished").await.output["Result"].clone();
    let refused = "the progress has 70002 bytes, more than the 65536 that it may have";
    assert_eq!(result, refused, "what is larger is refused");

    let heard = published(&mut commands, &token(&task)).await;
    assert!(!heard.iter().any(|body| body.contains(MEMBER)), "{heard:?}");
    let stream = world.js.get_stream(COMMANDS).await.unwrap();
    let mut kept = stream.info_with_subjects("staunch.task-progress.>").await.unwrap();
    assert!(kept.next().await.is_none(), "no stream of commands keeps it");
    world.nothing_left(&kind).await;

    // The handlers say something of the tasks before, too, which have ended.
    let (second, instance) = world.hand_out(&kind, json!({"steps": ["again"]})).await;
    let message = within("the progress of the second", PATIENCE, progress.next()).await.unwrap();
    let said: Value = serde_json::from_slice(&message.payload).unwrap();
    assert_eq!((&said["taskId"], &said["progress"]), (&json!(second), &json!("again")));
    world.over(&instance, "Finished").await;
    world.nothing_left(&kind).await;
}

/// Handlers go on while the broker is away. What they say then is heard later, or the log tells that it
/// is lost.
pub(crate) async fn the_log_tells_which_progress_is_lost(scene: &Scene) {
    const COUNT: usize = 60;
    let (world, prefix) = (&scene.world, format!("{}-away", scene.prefix));
    let door = Door::before(&world.cluster.nats_url()).await;
    let worker = Process::start(&scene.program, &door.url, &prefix, &scene.place);
    let kind = format!("{prefix} counting");
    let progress = format!("staunch.task-progress.{}.1.*", token(&kind));
    let mut progress = world.nats.subscribe(progress).await.unwrap();
    world.nats.flush().await.unwrap();
    let (task, instance) = world.hand_out(&kind, json!({"count": COUNT})).await;
    within("the first progress", PATIENCE, progress.next()).await.unwrap();
    door.set_shut(true);
    let said = scene.place.count(&prefix, "said", Some(&task));
    eventually("it goes on without the broker", PATIENCE, async || {
        scene.place.count(&prefix, "said", Some(&task)) >= said + 20
    })
    .await;
    door.set_shut(false);
    world.over(&instance, "Finished").await;
    let heard = std::iter::from_fn(|| progress.next().now_or_never().flatten()).count() + 1;
    let log = worker.log();
    let is_loss = |line: &&str| line.contains("progress") && line.contains("lost");
    let lost = log.lines().filter(is_loss).count();
    // What was on its way at that moment nobody may know to be lost.
    assert!(
        heard + lost + 1 >= COUNT,
        "{heard} of {COUNT} are heard, {lost} told to be lost: {log}"
    );
    world.nothing_left(&kind).await;
}

/// The bodies of the commands up to the result of this task.
async fn published(commands: &mut Subscriber, task: &str) -> Vec<String> {
    let mut bodies = Vec::new();
    loop {
        let command = within("the result among the commands", PATIENCE, commands.next()).await;
        let command = command.unwrap();
        bodies.push(String::from_utf8_lossy(&command.payload).into_owned());
        if command.subject.rsplit('.').next() == Some(task) {
            return bodies;
        }
    }
}
