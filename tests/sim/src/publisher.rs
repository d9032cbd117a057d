//! Several publishers of one definition at the same time, each with its own content. They publish
//! as ingress does: starting from the latest version, which the store compares.

use std::collections::BTreeMap;

use model::{Definition, Instance, VersionId};
use serde_json::{Value, json};
use store::{Base, Published, VersionOption};

use crate::client::Client;
use crate::oracle::Expect;
use crate::planted::Planted;
use crate::world::World;

/// The definition that they all publish.
pub(crate) const CONTENDED: &str = "contended";

/// A version, as in the answer to its publisher.
#[derive(Clone, Debug)]
pub(crate) struct Edition {
    id: VersionId,
    number: u32,
    line: String,
}

/// The content of one publisher: a workflow that writes this line.
pub(crate) fn writes(line: &str) -> Value {
    json!({"type": "WriteLine", "text": line})
}

/// Publishes a version, announces it and starts an instance, twice.
pub(crate) async fn tell(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    let mut expected = Vec::new();
    for round in 1..=2 {
        let line = format!("{id}-{round}");
        let edition = publish(world, client, &line).await;
        world.cluster.nemesis.note("client", format_args!("{CONTENDED} {edition:?}"));
        let is_everywhere = client.announce(CONTENDED, edition.number).await;
        let started = format!("{line}-after");
        client.start_published(CONTENDED, &started).await;
        let version_min = if is_everywhere { edition.number } else { 1 };
        expected.push(Expect { version_min, ..Expect::finished(&started) });
        world.editions.lock().unwrap().push(edition);
        tokio::time::sleep(client.dice.millis(1_000)).await;
    }
    expected
}

/// Tries until the content is published; if an answer is lost, finds out what was done.
async fn publish(world: &World, client: &Client, line: &str) -> Edition {
    for number in 0.. {
        if let Some(edition) = try_publish(world, client, line, number).await {
            return edition;
        }
        client.again().await;
    }
    panic!("{line} is never published")
}

async fn try_publish(world: &World, client: &Client, line: &str, number: u32) -> Option<Edition> {
    let found = client.store.definition(&CONTENDED.into(), VersionOption::Latest).await;
    let latest = found.ok()??;
    if latest.is_published && latest.root == writes(line) {
        return Some(edition(&latest));
    }
    let is_broken = world.cluster.planted == Some(Planted::VersionReused);
    let (id, version) = match latest.is_immutable() && !is_broken {
        true => (format!("{line}-{number}"), latest.version + 1),
        false => (latest.id.to_string(), latest.version),
    };
    let base = if is_broken { Base::Any } else { Base::of(Some(&latest)) };
    if is_broken {
        client.store.delete_version(&latest.id).await.ok()?;
    }
    let publication = world.publication(CONTENDED, &id, version, writes(line));
    let publication = store::Publication { base, ..publication };
    let definition = publication.definition.clone();
    match client.store.publish(publication).await {
        Ok(Published::Done) => Some(edition(&definition)),
        _ => None,
    }
}

fn edition(definition: &Definition) -> Edition {
    let line = definition.root["text"].as_str().unwrap_or_default().to_owned();
    Edition { id: definition.id.clone(), number: definition.version, line }
}

/// Checks that no version has two contents, no number has two versions, and the newest version is
/// published.
pub(crate) fn check<'a>(
    editions: &[Edition],
    stored: &[Definition],
    instances: impl Iterator<Item = (&'a Instance, Vec<String>)>,
    complaints: &mut Vec<String>,
) {
    let stored: BTreeMap<_, _> =
        stored.iter().map(|definition| (definition.id.clone(), definition)).collect();
    let content = |id: &VersionId| stored.get(id).map(|stored| edition(stored).line);
    for Edition { id, number, line } in editions {
        if content(id).as_ref() != Some(line) {
            let now = content(id);
            complaints.push(format!("version {number} ({id}) was {line:?} and is {now:?}"));
        }
    }
    for (instance, lines) in instances {
        let (id, version_id) = (&instance.id, &instance.version_id);
        if content(version_id).map(|line| vec![line]).as_ref() != Some(&lines) {
            let now = content(version_id);
            complaints.push(format!("{id} ran {version_id} as {lines:?}, which is {now:?}"));
        }
    }
    let mut numbers: Vec<u32> = stored.values().map(|definition| definition.version).collect();
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap()) {
        complaints.push(format!("the versions of {CONTENDED} are {numbers:?}"));
    }
    let published: Vec<u32> =
        stored.values().filter(|one| one.is_published).map(|one| one.version).collect();
    if !published.iter().eq(numbers.last()) {
        complaints.push(format!("of {numbers:?} of {CONTENDED}, {published:?} are published"));
    }
}
