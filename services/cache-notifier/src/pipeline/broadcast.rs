//! Makes the pointer say what the database says, and asks the nodes whether they have it.

use std::time::Duration;

use chassis::Point;
use model::DefinitionId;
use protocol::{CachePosition, ContentType, Headers, Message, Noticed, encode_body, subject};
use store::VersionOption;

use crate::{Context, Error};

/// Rounds until the pointer and the database agree.
const ROUNDS_MAX: usize = 8;
/// The longest wait until this node's own view has a pointer that is written.
const VIEW_WAIT_MAX: Duration = Duration::from_secs(5);

/// Points to what the database says is published. It writes first and looks in the database once
/// more afterwards: of two that write at the same time, the last one has seen the newest.
pub(crate) async fn point(
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
            // It never was published; nobody has it.
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
            // The pointer first, then the nodes; a node joins first and reads the pointers then. So
            // either it is asked, or it has the pointer.
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
        // An older version was published again: a pointer goes back only over a retraction.
        cx.pointers.put(definition_id, None, number).await?;
    }
    Err(Error::Restless(definition_id.clone()))
}

type Version = (model::VersionId, u32);

async fn published(cx: &Context, id: &DefinitionId) -> Result<Option<Version>, store::Error> {
    let published = cx.store.definition(id, VersionOption::Published).await?;
    Ok(published.map(|definition| (definition.id, definition.version)))
}

/// Asks every node how far it is with a definition.
pub(super) async fn ask(cx: &Context, definition_id: &DefinitionId) {
    let definition_id = definition_id.clone();
    let question = CachePosition { definition_id, revision: 0, version_id: None };
    let Ok(payload) = encode_body(ContentType::Json, &question) else { return };
    let subject = subject::CACHE_ASK.to_owned();
    if let Err(error) = cx.bus.send(Message { subject, headers: Headers::new(), payload }).await {
        tracing::debug!(%error, "the nodes could not be asked, trying again");
    }
}
