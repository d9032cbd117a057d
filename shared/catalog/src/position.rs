//! Reports to cache-notifier which pointers this node has applied.

use std::sync::Arc;

use bus::{Bus, Pointers, Subscription};
use futures::StreamExt as _;
use model::DefinitionId;
use protocol::{CachePosition, ContentType, Headers, Message, decode_body, encode_body, subject};
use tokio::sync::Mutex;
use tokio::sync::broadcast::error::RecvError;

/// Reports a position after each change, and when cache-notifier asks for one.
#[derive(Clone)]
pub(crate) struct Reporter {
    pointers: Pointers,
    bus: Arc<dyn Bus>,
    node: Arc<str>,
    /// Locked by the only run.
    questions: Arc<Mutex<Subscription>>,
}

impl Reporter {
    pub(crate) fn new(
        pointers: Pointers,
        bus: Arc<dyn Bus>,
        node: String,
        questions: Subscription,
    ) -> Self {
        let (node, questions) = (Arc::from(node), Arc::new(Mutex::new(questions)));
        Self { pointers, bus, node, questions }
    }

    /// Runs until the bus closes.
    pub(crate) async fn run(&self) {
        let mut questions = self.questions.lock().await;
        let mut changes = self.pointers.changed();
        loop {
            let definition_id = tokio::select! {
                biased;
                change = changes.recv() => match change {
                    Ok((definition_id, pointer)) => {
                        tracing::info!(
                            definition = %definition_id, version = pointer.version,
                            revision = pointer.revision, "cache invalidation received"
                        );
                        definition_id
                    }
                    // Some changes were missed; cache-notifier asks again for positions that it has
                    // not received.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                },
                question = questions.next() => match question {
                    Some(question) => match asked_for(&question.message) {
                        Some(definition_id) => definition_id,
                        None => continue,
                    },
                    None => return,
                },
            };
            self.report(definition_id).await;
        }
    }

    async fn report(&self, definition_id: DefinitionId) {
        let pointer = self.pointers.get(&definition_id);
        let revision = pointer.as_ref().map_or(0, |pointer| pointer.revision);
        let version_id = pointer.and_then(|pointer| pointer.version_id);
        let position = CachePosition { definition_id, revision, version_id };
        let Ok(payload) = encode_body(ContentType::Json, &position) else { return };
        let subject = subject::cache_applied(&self.node);
        let message = Message { subject, headers: Headers::new(), payload };
        if let Err(error) = self.bus.send(message).await {
            tracing::debug!(%error, "cache position not sent; cache-notifier asks again");
        }
    }
}

fn asked_for(message: &Message) -> Option<DefinitionId> {
    let position: Result<CachePosition, _> = decode_body(message.content_type(), &message.payload);
    position.ok().map(|position| position.definition_id)
}
