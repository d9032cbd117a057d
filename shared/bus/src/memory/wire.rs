//! Plain messages of the twin: subjects with wildcards, and groups that share requests in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Message, subject};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{MemoryBus, Operation, check_size};
use crate::{Endpoint, Error, Incoming, Subscription, Wire};

#[derive(Default)]
pub(super) struct State {
    listeners: Vec<Listener>,
    /// The next member to get a request, for each group.
    turns: BTreeMap<String, usize>,
    inboxes: u64,
    /// Nodes that plain messages do not reach.
    severed: BTreeSet<String>,
}

struct Listener {
    node: Arc<str>,
    pattern: String,
    group: Option<String>,
    sender: mpsc::UnboundedSender<Incoming>,
}

impl State {
    pub(super) fn subscribe(
        &mut self,
        node: &Arc<str>,
        pattern: &str,
        group: Option<String>,
    ) -> Subscription {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (node, pattern) = (Arc::clone(node), pattern.to_owned());
        self.listeners.push(Listener { node, pattern, group, sender });
        Box::pin(futures::stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|incoming| (incoming, receiver))
        }))
    }

    /// Hands a message to every subscriber and to one member of every group; false when nobody
    /// listens.
    pub(super) fn deliver(&mut self, message: Message, reply: Option<&str>) -> bool {
        self.listeners.retain(|listener| !listener.sender.is_closed());
        let mut groups: BTreeMap<&str, Vec<&Listener>> = BTreeMap::new();
        let mut receivers = Vec::new();
        for listener in &self.listeners {
            let is_severed = self.severed.contains(&*listener.node);
            if is_severed || !matches(&listener.pattern, &message.subject) {
                continue;
            }
            match &listener.group {
                Some(group) => groups.entry(group).or_default().push(listener),
                None => receivers.push(listener),
            }
        }
        for (group, members) in groups {
            let turn = self.turns.entry(group.to_owned()).or_default();
            receivers.push(members[*turn % members.len()]);
            *turn = turn.wrapping_add(1);
        }
        let incoming = Incoming { message, reply: reply.map(str::to_owned) };
        let sent = receivers.iter().filter(|to| to.sender.send(incoming.clone()).is_ok());
        sent.count() > 0
    }

    pub(super) fn sever(&mut self, node: &str) {
        self.severed.insert(node.to_owned());
    }

    pub(super) fn mend(&mut self, node: &str) {
        self.severed.remove(node);
    }

    pub(super) fn inbox(&mut self) -> String {
        self.inboxes += 1;
        subject::reply_inbox(&format!("memory-{}", self.inboxes))
    }
}

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

/// NATS wildcards: `*` is one token, `>` is one or more at the end.
pub(super) fn matches(pattern: &str, subject: &str) -> bool {
    let mut tokens = subject.split('.');
    for wanted in pattern.split('.') {
        let token = tokens.next();
        match (wanted, token) {
            (">", Some(_)) => return true,
            ("*", Some(_)) => {}
            (wanted, Some(token)) if wanted == token => {}
            _ => return false,
        }
    }
    tokens.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_nats() {
        for (pattern, subject, expected) in [
            ("a.b", "a.b", true),
            ("a.*", "a.b", true),
            ("a.*", "a.b.c", false),
            ("a.>", "a.b.c", true),
            ("a.>", "a", false),
            ("*.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.b.c", "a.b", false),
        ] {
            assert_eq!(matches(pattern, subject), expected, "{pattern} {subject}");
        }
    }
}
