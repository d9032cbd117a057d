//! Several publishers of one definition at the same time, each with its own content. They publish
//! as ingress does: starting from the latest version, which the store compares.

use store::{Base, Published, VersionOption};

use crate::client::Client;
use crate::definitions::{self, CONTENDED};
use crate::edition::Edition;
use crate::expect::Expect;
use crate::planted::Planted;
use crate::world::World;

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
    if latest.is_published && latest.root == definitions::line(line) {
        return Some(Edition::of(&latest));
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
    let publication = world.publication(CONTENDED, &id, version, definitions::line(line));
    let publication = store::Publication { base, ..publication };
    let definition = publication.definition.clone();
    match client.store.publish(publication).await {
        Ok(Published::Done) => Some(Edition::of(&definition)),
        _ => None,
    }
}
