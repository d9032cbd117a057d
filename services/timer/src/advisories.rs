//! What nats-server says of tasks that their consumer hands out no more, as it says it. The login of this
//! process may not be allowed to hear it: then it is tried again, and heard once the permissions are there.

use std::time::Duration;

use bus::{Attempt, Error};
use futures::StreamExt as _;
use protocol::{Message, subject};
use tokio::time::Instant;

use crate::Context;
use crate::spent::DENIED_PAUSE;

/// The pause before it is tried again, where the server cannot be asked.
const PAUSE: Duration = Duration::from_secs(60);

/// The advisories, as far as they are heard.
#[derive(Default)]
pub(crate) struct Advisories {
    heard: Option<(Attempt, Instant)>,
    /// No try begins before this.
    again_at: Option<Instant>,
    /// The log has told of the refusal.
    is_told: bool,
}

impl Advisories {
    /// The next one. Nothing is lost if this is given up before it ends.
    pub(crate) async fn next(&mut self, cx: &Context) -> Message {
        loop {
            match self.try_next(cx).await {
                Ok(message) => return message,
                Err(error) => self.failed(&error),
            }
        }
    }

    async fn try_next(&mut self, cx: &Context) -> Result<Message, Error> {
        if let Some(at) = self.again_at {
            tokio::time::sleep_until(at).await;
            self.again_at = None;
        }
        let heard = match self.heard.take() {
            Some(heard) => heard,
            None => {
                let attempt = cx.bus.subscribe_if_allowed(subject::TASK_SPENT).await?;
                (attempt, Instant::now())
            }
        };
        let (attempt, _) = self.heard.insert(heard);
        let next = attempt.next().await.unwrap_or(Err(Error::Closed));
        next.map(|incoming| incoming.message)
    }

    fn failed(&mut self, error: &Error) {
        let is_another = self.is_another();
        let Error::Denied(text) = error else {
            self.again_at = Some(Instant::now() + PAUSE);
            return tracing::debug!(%error, "what nats-server says of tasks is not heard");
        };
        self.again_at = Some(Instant::now() + DENIED_PAUSE);
        if !is_another {
            return tracing::debug!("what nats-server says of tasks is still refused: {text}");
        }
        self.is_told = true;
        tracing::warn!(
            again_after_s = DENIED_PAUSE.as_secs(),
            "what nats-server says of tasks that were delivered as often as `max_deliver` of their \
             consumer says is not heard, so they are found later: {text}; `staunch nats-permissions` \
             prints what the role timer needs"
        );
    }

    /// Ends what was heard. True if the log has not told of its refusal: one comes at once, so after a while
    /// without one it is another.
    fn is_another(&mut self) -> bool {
        let was_heard = self.heard.take().is_some_and(|(_, since)| since.elapsed() >= PAUSE);
        was_heard || !self.is_told
    }
}

#[cfg(test)]
mod tests;
