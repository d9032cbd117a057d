//! Requests that wait for the outcome of their command: one subscription for each process, one
//! subject token for each command.
//!
//! Two requests of the same command (an idempotency key used twice) share a token, and both get the
//! outcome. The limit on requests in progress limits the number that wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::{Bus, Subscription};
use futures::StreamExt as _;
use model::CommandId;
use protocol::{Outcome, decode_body, subject};
use tokio::sync::oneshot;

/// The requests that wait.
#[derive(Clone, Debug)]
pub(crate) struct Waiters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    inbox: String,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    number: u64,
    by_token: BTreeMap<String, Vec<(u64, oneshot::Sender<Outcome>)>>,
}

/// The wait of one request; dropping it ends the wait.
#[derive(Debug)]
pub(crate) struct Wait {
    waiters: Waiters,
    token: String,
    number: u64,
    receiver: oneshot::Receiver<Outcome>,
}

impl Waiters {
    /// Opens the inbox of this process.
    pub(crate) async fn open(bus: &dyn Bus) -> Result<(Self, Subscription), bus::Error> {
        let inbox = bus.inbox();
        let subscription = bus.subscribe(&format!("{inbox}.*")).await?;
        Ok((Self(Arc::new(Inner { inbox, waiting: Mutex::default() })), subscription))
    }

    /// Hands outcomes to the requests that wait for them, until the bus is closed. A later run,
    /// after a panic, has no subscription yet and opens a new one.
    pub(crate) async fn listen(self, bus: Arc<dyn Bus>, open: Option<Subscription>) {
        let subject = format!("{}.*", self.0.inbox);
        let subscription = match open {
            Some(subscription) => Ok(subscription),
            None => bus.subscribe(&subject).await,
        };
        let mut subscription = match subscription {
            Ok(subscription) => subscription,
            Err(error) => {
                tracing::error!(%error, "outcomes do not arrive: callers wait to the end");
                return;
            }
        };
        while let Some(incoming) = subscription.next().await {
            let message = incoming.message;
            let Some((_, token)) = message.subject.rsplit_once('.') else { continue };
            match decode_body::<Outcome>(message.content_type(), &message.payload) {
                Ok(outcome) => self.tell(token, &outcome),
                Err(error) => tracing::warn!(%error, "an outcome cannot be read"),
            }
        }
    }

    /// The subject for the outcome of this command.
    pub(crate) fn subject(&self, id: &CommandId) -> String {
        format!("{}.{}", self.0.inbox, subject::token(id.as_str()))
    }

    /// Begins to wait for the outcome of this command.
    pub(crate) fn expect(&self, id: &CommandId) -> Wait {
        let token = subject::token(id.as_str());
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        waiting.number += 1;
        let number = waiting.number;
        waiting.by_token.entry(token.clone()).or_default().push((number, sender));
        drop(waiting);
        Wait { waiters: self.clone(), token, number, receiver }
    }

    /// The number of requests that wait.
    pub(crate) fn count(&self) -> usize {
        self.lock().by_token.values().map(Vec::len).sum()
    }

    fn tell(&self, token: &str, outcome: &Outcome) {
        let told = self.lock().by_token.remove(token).unwrap_or_default();
        for (_, sender) in told {
            // The request may have ended in the meantime.
            drop(sender.send(outcome.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// The outcome, if it comes within that time; otherwise the wait goes on.
    pub(crate) async fn for_a_moment(&mut self, time: std::time::Duration) -> Option<Outcome> {
        tokio::time::timeout(time, &mut self.receiver).await.ok().and_then(Result::ok)
    }

    /// True when another request in this process waits for the same command.
    pub(crate) fn has_company(&self) -> bool {
        self.waiters.lock().by_token.get(&self.token).is_some_and(|waiting| waiting.len() > 1)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut waiting = self.waiters.lock();
        if let Some(senders) = waiting.by_token.get_mut(&self.token) {
            senders.retain(|(number, _)| *number != self.number);
            if senders.is_empty() {
                waiting.by_token.remove(&self.token);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
mod tests {
    use std::time::Duration;

    use bus::{MemoryBus, Wire as _};
    use model::Timestamp;
    use protocol::{ContentType, Headers, Message, encode_body};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outcome_reaches_all_who_wait_for_it_and_nobody_else() {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        let (waiters, subscription) = Waiters::open(&bus).await.unwrap();
        let listening =
            tokio::spawn(waiters.clone().listen(Arc::new(bus.clone()), Some(subscription)));
        let id = CommandId::new("c1");
        let (mut first, mut second) = (waiters.expect(&id), waiters.expect(&id));
        let mut other = waiters.expect(&CommandId::new("c2"));
        assert!(first.has_company() && !other.has_company());
        let outcome = Outcome { affected: Some(3), ..Outcome::default() };
        let payload = encode_body(ContentType::Json, &outcome).unwrap();
        let headers = Headers::new();
        bus.send(Message { subject: waiters.subject(&id), headers, payload }).await.unwrap();
        assert_eq!(first.for_a_moment(Duration::from_secs(1)).await, Some(outcome.clone()));
        assert_eq!(second.for_a_moment(Duration::from_secs(1)).await, Some(outcome));
        assert_eq!(other.for_a_moment(Duration::from_secs(1)).await, None);
        drop((first, second, other));
        assert_eq!(waiters.count(), 0);
        listening.abort();
    }
}
