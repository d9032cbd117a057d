//! Commands with a sequence are applied in that order, even if they arrive in another.

use model::SubStatus;
use protocol::{Command, Refusal, ReplyWhen, Sequence};
use serde_json::json;

use crate::wired::world::{World, cancel, line, resume, sequence, wait_for};

fn numbered(mut command: Command, number: u64) -> Command {
    command.sequence = Some(Sequence { sender: "till-1".into(), number });
    command
}

#[tokio::test(start_paused = true)]
async fn numbered_commands_apply_in_their_order() {
    let world = World::new();
    let steps = vec![wait_for("x"), line("1"), wait_for("y"), line("2"), wait_for("z")];
    world.publish("steps", sequence(steps), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    world.start("steps", "i", json!({})).await;
    world.send(&numbered(cancel("third", "i"), 3)).await;
    world.send(&numbered(resume("second", "i", None, json!({})), 2)).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert!(world.lines("i").await.is_empty(), "they wait for the first");
    world.send(&numbered(resume("first", "i", None, json!({})), 1)).await;
    world.until_status("i", SubStatus::Cancelled).await;
    assert_eq!(world.lines("i").await, ["1", "2"]);
    world.until_quiet().await;
    assert!(world.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refused_command_uses_its_number_up() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x")]), json!({})).await;
    let _node = world.node("a").await;
    world.start("wait", "i", json!({})).await;
    let refused = numbered(resume("r1", "i", Some("never-there"), json!({})), 1);
    let outcome = world.ask(refused, ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, Some(Refusal::AlreadyDone));
    let next = numbered(resume("r2", "i", None, json!({})), 2);
    let outcome = world.ask(next, ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
}

#[tokio::test(start_paused = true)]
async fn a_number_whose_predecessor_never_comes_is_parked_in_the_end() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x")]), json!({})).await;
    let _node = world.node("a").await;
    world.start("wait", "i", json!({})).await;
    world.send(&numbered(resume("r2", "i", None, json!({})), 2)).await;
    world.until("it is parked", async || world.dead().len() == 1).await;
    let dead = world.dead();
    let reason = dead[0].header(protocol::header::REASON).unwrap();
    assert!(reason.contains("number 1 of this sender is due"), "{reason}");
}
