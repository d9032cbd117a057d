//! The twin sends, asks and serves.

use std::time::Duration;

use async_trait::async_trait;
use protocol::Message;
use tokio::time::Instant;

use super::{MemoryBus, Operation, check_size};
use crate::{Attempt, Endpoint, Error, Subscription, Wire};

#[async_trait]
impl Wire for MemoryBus {
    async fn send(&self, message: Message) -> Result<(), Error> {
        check_size(&message)?;
        let subject = message.subject.clone();
        let verdict = self.judge(Operation::Send { subject: &subject }).await?;
        if verdict.lost {
            return Ok(());
        }
        if verdict.twice {
            self.put(message.clone())?;
        }
        // If the stream refuses the message, nobody is notified: it is a plain message.
        match self.put(message) {
            Ok(_) | Err(Error::Full(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn subscribe(&self, subject: &str) -> Result<Subscription, Error> {
        self.judge(Operation::Subscribe { subject }).await?;
        Ok(self.open()?.wire.subscribe(&self.node, subject, None))
    }

    async fn subscribe_if_allowed(&self, subject: &str) -> Result<Attempt, Error> {
        match self.subscribe(subject).await {
            Err(denied @ Error::Denied(_)) => {
                Ok(Box::pin(futures::stream::once(async move { Err(denied) })))
            }
            subscribed => Ok(Box::pin(futures::StreamExt::map(subscribed?, Ok))),
        }
    }

    async fn request(&self, message: Message, timeout: Duration) -> Result<Message, Error> {
        check_size(&message)?;
        let subject = message.subject.clone();
        let verdict = self.judge(Operation::Request { subject: &subject }).await?;
        let inbox = self.inbox();
        let mut answers = self.open()?.wire.subscribe(&self.node, &inbox, None);
        if !verdict.lost {
            let now = self.now();
            let mut state = self.open()?;
            let receipt = state.log.publish(&message, now, Instant::now())?;
            let heard = state.wire.deliver(message, Some(&inbox));
            if let Some(receipt) = receipt {
                let payload = format!("{{\"seq\":{}}}", receipt.sequence).into_bytes();
                let answer = Message { subject: inbox.clone(), payload, ..Message::default() };
                state.wire.deliver(answer, None);
            } else if !heard {
                return Err(Error::Unavailable(format!("nobody listens on {subject}")));
            }
            drop(state);
            self.shared.arrived.notify_waiters();
        }
        let answer = futures::StreamExt::next(&mut answers);
        match tokio::time::timeout(timeout, answer).await {
            Ok(Some(incoming)) => verdict.answer(incoming.message),
            Ok(None) => Err(Error::Closed),
            Err(_) => Err(Error::Unknown(format!("no answer on {subject} in {timeout:?}"))),
        }
    }

    async fn ask_all(&self, message: Message) -> Result<Subscription, Error> {
        check_size(&message)?;
        let subject = message.subject.clone();
        let verdict = self.judge(Operation::Request { subject: &subject }).await?;
        let inbox = self.inbox();
        let mut state = self.open()?;
        let answers = state.wire.subscribe(&self.node, &inbox, None);
        if !verdict.lost {
            state.wire.deliver(message, Some(&inbox));
        }
        Ok(answers)
    }

    fn inbox(&self) -> String {
        self.state().wire.inbox()
    }

    async fn serve(
        &self,
        name: &str,
        _version: &str,
        _description: &str,
        endpoints: Vec<Endpoint>,
    ) -> Result<Subscription, Error> {
        let mut state = self.open()?;
        let served = endpoints.iter().map(|endpoint| {
            state.wire.subscribe(
                &self.node,
                &endpoint.subject,
                Some(format!("{name}/{}", endpoint.name)),
            )
        });
        let served: Vec<_> = served.collect();
        Ok(Box::pin(futures::stream::select_all(served)))
    }
}
