//! Plain messages of the twin: subjects with wildcards, and groups that share requests in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use protocol::{Message, subject};
use tokio::sync::mpsc;

use crate::{Incoming, Subscription};

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
