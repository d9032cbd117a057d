//! Stories of operators, who change instances from outside their workflows.

use std::time::Duration;

use executor::Record;
use model::{Alteration, SubStatus};
use serde_json::json;
use store::Instances as _;

use crate::client::Client;
use crate::definitions::moved;
use crate::expect::Expect;
use crate::world::World;

/// An instance fails; its variable is corrected, and it is retried, twice under one id.
pub(crate) async fn retry(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    client.start("faulty", id).await;
    until(world, id, |status, _| status == SubStatus::Faulted).await;
    let correct = || {
        vec![
            Alteration::ModifyVariable { variable_id: "Span".to_owned(), value: json!("00:00:02") },
            Alteration::Retry { activity_ids: Vec::new() },
        ]
    };
    for _ in 0..2 {
        client.alter(&format!("retry-{id}"), id, correct()).await;
    }
    vec![Expect::lines(id, &["a", "b"])]
}

/// An activity is scheduled beside the one that waits.
pub(crate) async fn schedule(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    client.start("chart", id).await;
    let bookmark = world.bookmark(id).await;
    let schedule = Alteration::ScheduleActivity {
        activity_id: Some("line".into()),
        activity_instance_id: None,
    };
    client.alter(&format!("schedule-{id}"), id, vec![schedule]).await;
    world.until_lines(id, 1).await;
    client.resume(&format!("resume-{id}"), id, Some(bookmark), None).await;
    vec![Expect::lines(id, &["line", "line"])]
}

/// A resume that comes while the instance is paused is applied when it goes on.
pub(crate) async fn pause(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    client.start("waiter", id).await;
    let bookmark = world.bookmark(id).await;
    client.alter(&format!("pause-{id}"), id, vec![Alteration::Pause { reason: None }]).await;
    // Commands may overtake each other: it goes on only once it is paused.
    until_paused(world, id).await;
    client.resume(&format!("paused-{id}"), id, Some(bookmark), None).await;
    tokio::time::sleep(client.dice.millis(3_000)).await;
    client.alter(&format!("unpause-{id}"), id, vec![Alteration::Unpause]).await;
    world.until_lines(id, 2).await;
    let bookmark = world.bookmark(id).await;
    client.resume(&format!("last-{id}"), id, Some(bookmark), None).await;
    vec![Expect::lines(id, &["a", "b", "c"])]
}

/// An instance goes on with another version, and not with one in which its activity is not there, or
/// is of another type.
pub(crate) async fn migrate(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    client.start("moved", id).await;
    let bookmark = world.bookmark(id).await;
    world.publish_version("moved", 2, moved("new")).await;
    let never = |id: &str| json!({"type": "WriteLine", "id": id, "text": "never"});
    let activities = match client.dice.hits(5_000) {
        true => json!([never("end")]),
        false => json!([never("begin"), never("wait"), never("end")]),
    };
    let unfit = json!({"type": "Sequence", "id": "moved", "activities": activities});
    world.publish_version("moved", 3, unfit).await;
    let to = |target_version| vec![Alteration::migrate(target_version)];
    client.alter(&format!("refused-{id}"), id, to(3)).await;
    client.alter(&format!("migrate-{id}"), id, to(2)).await;
    until(world, id, |_, version| version == 2).await;
    client.resume(&format!("resume-{id}"), id, Some(bookmark), None).await;
    let migrations = vec![2];
    vec![Expect { version_min: 2, migrations, ..Expect::lines(id, &["begin", "new"]) }]
}

async fn until_paused(world: &World, id: &str) {
    loop {
        let loaded = world.cluster.store.load(&id.into()).await.unwrap().unwrap();
        let record = Record::decode(&loaded.instance.state).unwrap();
        if record.state.is_paused {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn until(world: &World, id: &str, holds: impl Fn(SubStatus, u32) -> bool) {
    loop {
        let loaded = world.cluster.store.load(&id.into()).await.unwrap();
        let row = loaded.map(|loaded| loaded.instance);
        if row.is_some_and(|row| holds(row.status, row.definition_version)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
