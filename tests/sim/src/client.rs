//! Does the work of ingress, on the same database and bus with the same faults: accepts, then
//! publishes. A client without a response tries again under the same id; sometimes it dies in
//! between.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Stored};
use chassis::{Clock as _, TokioClock};
use model::{Alteration, CommandId, DefinitionId, Instance, InstanceId, Map, PayloadHash, Trigger};
use protocol::{
    Alter, Body, Cancel, Command, ContentType, EventRaised, Headers, Message, Noticed, Resume,
    Sequence, Start, decode_body, encode_body, subject,
};
use serde_json::{Value, json};
use store::{Accepted, NewInstance, PendingCommand, Store};

use crate::chance::Dice;

/// The size of the parts of payloads.
const PART_BYTES: usize = 16;

pub(crate) struct Client {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) clock: TokioClock,
    pub(crate) dice: Dice,
}

impl Client {
    pub(crate) async fn again(&self) {
        tokio::time::sleep(Duration::from_millis(150) + self.dice.millis(300)).await;
    }

    /// Accepts a start of version 1, and publishes it unless the client dies first; in that case
    /// the sweep publishes it.
    pub(crate) async fn start(&self, definition: &str, id: &str) {
        self.start_version(definition, id, &format!("{definition}-1"), Map::new()).await;
    }

    /// The same with this input.
    pub(crate) async fn start_with(&self, definition: &str, id: &str, input: Map) {
        self.start_version(definition, id, &format!("{definition}-1"), input).await;
    }

    /// Accepts a start of the version that is published when it runs.
    pub(crate) async fn start_published(&self, definition: &str, id: &str) {
        self.start_version(definition, id, "", Map::new()).await;
    }

    async fn start_version(&self, definition: &str, id: &str, version_id: &str, input: Map) {
        let body = Start {
            definition_id: DefinitionId::new(definition),
            instance_id: Some(InstanceId::new(id)),
            input,
            ..Start::default()
        };
        let mut command = Command::new(CommandId::new(format!("start-{id}")), Body::Start(body));
        command.reply_to = Some(format!("staunch.reply.told.{id}"));
        let message = command.encode().unwrap();
        let now = self.clock.now();
        let (id, definition) = (InstanceId::new(id), DefinitionId::new(definition));
        let instance = Instance::new(id.clone(), definition, version_id.into(), 1, now);
        let start = NewInstance { instance, command: message.clone(), activation_key: None };
        loop {
            match self.store.accept(start.clone()).await {
                Ok(Accepted::New | Accepted::Exists(_)) => break,
                Ok(Accepted::Gone) => panic!("{id} names a deleted version"),
                Ok(Accepted::NotAllowed(by)) => panic!("{id} is not allowed because of {by}"),
                Err(_) => self.again().await,
            }
        }
        self.publish_perhaps(message).await;
    }

    /// Keeps a text as a payload, in parts; returns its name. What was begun in vain stays behind.
    pub(crate) async fn keep(&self, text: &str) -> PayloadHash {
        let hash = PayloadHash::of(text.as_bytes());
        for attempt in 0.. {
            let id = format!("{text}-{attempt}");
            match self.try_to_keep(&id, text, &hash).await {
                Ok(()) => break,
                Err(_) => self.again().await,
            }
        }
        hash
    }

    async fn try_to_keep(
        &self,
        id: &str,
        text: &str,
        hash: &PayloadHash,
    ) -> Result<(), store::Error> {
        self.store.begin_payload(id, None, self.clock.now()).await?;
        for (number, part) in (0..).zip(text.as_bytes().chunks(PART_BYTES)) {
            self.store.write_payload(id, number, part.to_vec()).await?;
        }
        self.store.complete_payload(id, hash, text.len() as u64, self.clock.now()).await.map(drop)
    }

    /// Starts without the database: a start is accepted when the stream has it.
    pub(crate) async fn start_by_stream(&self, definition: &str, id: &str) {
        let body = Start {
            definition_id: DefinitionId::new(definition),
            instance_id: Some(InstanceId::new(id)),
            ..Start::default()
        };
        let command = Command::new(CommandId::new(format!("start-{id}")), Body::Start(body));
        self.publish(command.encode().unwrap()).await;
    }

    /// Accepts a resume, and publishes it unless the client dies first.
    pub(crate) async fn resume(
        &self,
        id: &str,
        instance: &str,
        bookmark: Option<model::BookmarkId>,
        order: Option<(&str, u64)>,
    ) {
        let body = Resume {
            instance_id: InstanceId::new(instance),
            bookmark_id: bookmark.clone(),
            input: Map::new(),
            ..Resume::default()
        };
        let mut command = Command::new(CommandId::new(id), Body::Resume(body));
        command.sequence =
            order.map(|(sender, number)| Sequence { sender: sender.to_owned(), number });
        self.accept(command, Some(InstanceId::new(instance)), bookmark).await;
    }

    pub(crate) async fn cancel(&self, id: &str, instance: &str) {
        let body = Cancel { instance_id: InstanceId::new(instance), reason: None };
        let command = Command::new(CommandId::new(id), Body::Cancel(body));
        self.accept(command, Some(InstanceId::new(instance)), None).await;
    }

    /// Alters an instance, as an operator.
    pub(crate) async fn alter(&self, id: &str, instance: &str, alterations: Vec<Alteration>) {
        let body = Alter { instance_id: InstanceId::new(instance), alterations };
        let command = Command::new(CommandId::new(id), Body::Alter(body));
        self.accept(command, Some(InstanceId::new(instance)), None).await;
    }

    pub(crate) async fn raise(&self, id: &str, name: &str) {
        let body = EventRaised { event_name: name.to_owned(), ..EventRaised::default() };
        self.accept(Command::new(CommandId::new(id), Body::Event(body)), None, None).await;
    }

    /// Announces a version that is published; true when every live node has it.
    pub(crate) async fn announce(&self, definition: &str, version: u32) -> bool {
        let noticed = Noticed {
            definition_id: definition.into(),
            version_id: None,
            version,
            revision: 0,
            everywhere: false,
            missing: Vec::new(),
        };
        let payload = encode_body(ContentType::Json, &noticed).unwrap();
        let subject = subject::CACHE_CHANGED.to_owned();
        let message = Message { subject, headers: Headers::new(), payload };
        let answer = self.bus.request(message, Duration::from_secs(6)).await;
        answer.is_ok_and(|answer| {
            let noticed: Noticed = decode_body(ContentType::Json, &answer.payload).unwrap();
            noticed.everywhere
        })
    }

    /// Sends bytes that are not a command.
    pub(crate) async fn send_garbled(&self, id: &str) {
        let mut message = Message {
            subject: format!("{}.start.nothing", subject::COMMANDS),
            headers: Headers::new(),
            payload: b"{".to_vec(),
        };
        message.headers.insert(protocol::header::MESSAGE_ID.to_owned(), id.to_owned());
        self.publish(message).await;
    }

    /// Sends an event that no instance will wait for and that expires soon.
    pub(crate) async fn keep_for(&self, id: &str, name: &str, wait: Duration) {
        let body = EventRaised { event_name: name.to_owned(), ..EventRaised::default() };
        let command = Command::new(CommandId::new(id), Body::Event(body));
        let now = self.clock.now();
        let pending = PendingCommand {
            id: command.id.clone(),
            instance_id: None,
            bookmark_id: None,
            hash: Some(model::Stimulus::event(name).hash()),
            correlation_id: None,
            command: command.encode().unwrap(),
            accepted_at: now,
            expires_at: Some(now.after(wait)),
            waiting: true,
        };
        while self.store.accept_command(pending.clone()).await.is_err() {
            self.again().await;
        }
    }

    async fn accept(
        &self,
        command: Command,
        instance_id: Option<InstanceId>,
        bookmark_id: Option<model::BookmarkId>,
    ) {
        let message = command.encode().unwrap();
        let pending = PendingCommand {
            id: command.id.clone(),
            instance_id,
            bookmark_id,
            hash: None,
            correlation_id: None,
            command: message.clone(),
            accepted_at: self.clock.now(),
            expires_at: None,
            waiting: false,
        };
        while self.store.accept_command(pending.clone()).await.is_err() {
            self.again().await;
        }
        self.publish_perhaps(message).await;
    }

    /// Stores a message in a stream that others own, as soon as that exists.
    pub(crate) async fn store_outside(&self, message: Message) -> Stored {
        let outside = self.bus.outside();
        loop {
            match outside.store(message.clone(), Duration::from_secs(5)).await {
                Ok(stored) => return stored,
                Err(_) => self.again().await,
            }
        }
    }

    /// Publishes once, a few times, or not at all.
    async fn publish_perhaps(&self, message: Message) {
        let tries = *self.dice.pick(&[0, 1, 1, 1, 1, 1, 2, 4]);
        for _ in 0..tries {
            if self.bus.publish(message.clone()).await.is_err() || self.dice.hits(5_000) {
                self.again().await;
            }
        }
    }

    async fn publish(&self, message: Message) {
        while self.bus.publish(message.clone()).await.is_err() {
            self.again().await;
        }
    }
}

/// A file whose content is a payload.
pub(crate) fn file(text: &str, hash: &PayloadHash) -> Value {
    json!({"fileName": "text.txt", "contentType": "text/plain", "size": text.len(),
        "payload": hash.as_str()})
}

/// The id of the instance that an event starts by a trigger: the same on every try.
pub(crate) fn triggered_id(event: &str, trigger: &Trigger) -> InstanceId {
    let (definition, activity) = (trigger.definition_id.as_str(), trigger.activity_id.as_str());
    let command = CommandId::new(model::derived(&["event", event, definition, activity]));
    let start = Start { definition_id: trigger.definition_id.clone(), ..Start::default() };
    start.instance_id(&command)
}
