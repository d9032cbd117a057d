//! What a handler says of how far its task is.

use async_nats::Subscriber;
use futures::StreamExt as _;
use serde_json::{Value, json};
use staunch_client::token;
use testkit::within;

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
