//! Asks the nodes which pointer they have.

use model::DefinitionId;
use protocol::{CachePosition, ContentType, Headers, Message, encode_body, subject};

use crate::Context;

/// Asks every node for its position of a definition.
pub(super) async fn ask(cx: &Context, definition_id: &DefinitionId) {
    let definition_id = definition_id.clone();
    let question = CachePosition { definition_id, revision: 0, version_id: None };
    let Ok(payload) = encode_body(ContentType::Json, &question) else { return };
    let subject = subject::CACHE_ASK.to_owned();
    if let Err(error) = cx.bus.send(Message { subject, headers: Headers::new(), payload }).await {
        tracing::debug!(%error, "the nodes could not be asked; they are asked again");
    }
}
