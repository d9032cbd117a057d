//! Writes the pointer of a definition: the version that is published according to the database.

use std::time::Duration;

use chassis::Point;
use model::DefinitionId;
use protocol::Noticed;
use store::VersionOption;

use crate::{Context, Error};

/// The greatest number of writes until the pointer and the database agree.
const ROUNDS_MAX: usize = 8;
/// The longest wait until this node's own view shows a pointer that was written.
const VIEW_WAIT_MAX: Duration = Duration::from_secs(5);

/// Writes the pointer, and reads the database once more afterwards: of two notifiers that write at
/// the same time, the one that writes last has read the newest version.
pub(crate) async fn write(
    cx: &Context,
    definition_id: &DefinitionId,
    version: u32,
) -> Result<Noticed, Error> {
    let mut published = published(cx, definition_id).await?;
    for _ in 0..ROUNDS_MAX {
        let known = cx.pointers.get(definition_id);
        cx.trail.at(Point::BeforeSwap).await;
        let revision = match (&published, &known) {
            (Some((version_id, number)), _) => {
                cx.pointers.put(definition_id, Some(version_id), *number).await?
            }
            (None, Some(pointer)) => {
                let version = version.max(pointer.version);
                cx.pointers.put(definition_id, None, version).await?
            }
            // The definition was never published, so no node has it.
            (None, None) => 0,
        };
        cx.trail.at(Point::Pointed).await;
        if revision > 0 {
            let applied = cx.pointers.applied(definition_id, revision);
            if tokio::time::timeout(VIEW_WAIT_MAX, applied).await.is_err() {
                return Err(Error::Bus(bus::Error::Unavailable("the pointers lag".to_owned())));
            }
        }
        let again = self::published(cx, definition_id).await?;
        let is_steady = again == published;
        published = again;
        if !is_steady {
            continue;
        }
        let pointed = cx.pointers.get(definition_id);
        let points_to = pointed.as_ref().and_then(|pointer| pointer.version_id.clone());
        let number = pointed.as_ref().map_or(version, |pointer| pointer.version);
        if points_to == published.as_ref().map(|(id, _)| id.clone()) {
            // This reads the nodes after the pointer is written; a node joins before it reads the
            // pointers. So each node either is asked or has the pointer.
            cx.presence.look().await?;
            return Ok(Noticed {
                definition_id: definition_id.clone(),
                version_id: points_to,
                version: number,
                revision: pointed.map_or(0, |pointer| pointer.revision),
                everywhere: false,
                missing: Vec::new(),
            });
        }
        // An older version is published again. A pointer goes back to a lower number only after a
        // retraction.
        cx.pointers.put(definition_id, None, number).await?;
    }
    Err(Error::Diverging(definition_id.clone()))
}

type Version = (model::VersionId, u32);

async fn published(cx: &Context, id: &DefinitionId) -> Result<Option<Version>, store::Error> {
    let published = cx.store.definition(id, VersionOption::Published).await?;
    Ok(published.map(|definition| (definition.id, definition.version)))
}
