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
        let wanted = published.as_ref().map(|(version_id, _)| version_id);
        let number = match (&published, &known) {
            (Some((_, number)), _) => Some(*number),
            (None, Some(pointer)) => Some(version.max(pointer.version)),
            // The definition was never published, so no node has it.
            (None, None) => None,
        };
        let pointer = match number {
            Some(number) => Some(cx.pointers.put(definition_id, wanted, number).await?),
            None => None,
        };
        cx.trail.at(Point::Pointed).await;
        if let Some(pointer) = &pointer {
            let applied = cx.pointers.applied(definition_id, pointer.revision);
            if tokio::time::timeout(VIEW_WAIT_MAX, applied).await.is_err() {
                return Err(Error::Bus(bus::Error::Unavailable("the pointers lag".to_owned())));
            }
        }
        let again = self::published(cx, definition_id).await?;
        if again != published {
            published = again;
            continue;
        }
        // What the bucket has decides, not this node's view of it: the view of a bucket that was
        // lost lags behind the new one.
        let points_to = pointer.as_ref().and_then(|pointer| pointer.version_id.as_ref());
        if points_to == wanted {
            // This reads the nodes after the pointer is written; a node joins before it reads the
            // pointers. So each node either is asked or has the pointer.
            cx.presence.look().await?;
            return Ok(Noticed {
                definition_id: definition_id.clone(),
                version_id: wanted.cloned(),
                version: pointer.as_ref().map_or(version, |pointer| pointer.version),
                revision: pointer.as_ref().map_or(0, |pointer| pointer.revision),
                everywhere: false,
                missing: Vec::new(),
            });
        }
        // An older version is published again.
        if let (Some(pointer), Some(number)) = (&pointer, number) {
            cx.pointers.replace(definition_id, wanted, number, pointer).await?;
        }
    }
    Err(Error::Diverging(definition_id.clone()))
}

type Version = (model::VersionId, u32);

async fn published(cx: &Context, id: &DefinitionId) -> Result<Option<Version>, store::Error> {
    let published = cx.store.definition(id, VersionOption::Published).await?;
    Ok(published.map(|definition| (definition.id, definition.version)))
}
