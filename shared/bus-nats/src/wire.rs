//! Plain messages and the Services API.

use std::time::Duration;

use async_nats::client::{PublishErrorKind, RequestErrorKind};
use async_nats::service::ServiceExt as _;
use async_nats::{Client, PublishError, Request};
use async_trait::async_trait;
use bus::{Attempt, Endpoint, Error, Incoming, Subscription, Wire};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{once, select};
use protocol::{Message, subject};
use tokio::time::Instant;

use crate::NatsBus;
use crate::api::{headers_out, message_in, too_large};

#[async_trait]
impl Wire for NatsBus {
    async fn send(&self, message: Message) -> Result<(), Error> {
        let headers = headers_out(&message.headers)?;
        let client = self.open()?.data_api.client();
        let Message { subject, payload, .. } = message;
        let (size, payload) = (payload.len(), Bytes::from(payload));
        let sent = if headers.is_empty() {
            client.publish(subject, payload).await
        } else {
            client.publish_with_headers(subject, headers, payload).await
        };
        sent.map_err(|error| unsent(client, size, &error))
    }

    async fn subscribe(&self, subject: &str) -> Result<Subscription, Error> {
        let inner = self.open()?;
        let subscriber = inner.data_api.client().subscribe(subject.to_owned()).await;
        let subscriber = subscriber
            .map_err(|error| Error::Unavailable(format!("the subscription {subject}: {error}")))?;
        Ok(self.until_closed(subscriber.map(|message| incoming(&message)).boxed()))
    }

    async fn subscribe_if_allowed(&self, subject: &str) -> Result<Attempt, Error> {
        let inner = self.open()?;
        let (since, subject) = (Instant::now(), subject.to_owned());
        let messages = self.subscribe(&subject).await?.map(Ok);
        let (refusals, user) = (inner.data_api.refusals().clone(), inner.data.user.clone());
        // The server says in a message of its own that it has refused a subscription.
        let refused = async move {
            let refusal = refusals.of_subscription(&subject, since).await;
            Err(Error::Denied(format!("{user} may not hear {subject}: NATS says {refusal}")))
        };
        let closed = inner.closed.clone();
        let attempt = select(messages, once(refused));
        Ok(attempt.take_until(async move { closed.cancelled().await }).boxed())
    }

    async fn request(&self, message: Message, timeout: Duration) -> Result<Message, Error> {
        let headers = headers_out(&message.headers)?;
        let Message { subject, payload, .. } = message;
        let size = payload.len();
        let mut request = Request::new().payload(Bytes::from(payload)).timeout(Some(timeout));
        if !headers.is_empty() {
            request = request.headers(headers);
        }
        let inner = self.open()?;
        let client = inner.data_api.client();
        let answer = client.send_request(subject.clone(), request).await;
        match answer {
            Ok(answer) => Ok(message_in(&answer)),
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => {
                    Error::Unavailable(format!("nobody listens on {subject}"))
                }
                // The server says in a message of its own that it has refused a request.
                RequestErrorKind::TimedOut => match inner.data_api.denied(&subject) {
                    Some(refusal) => Error::Denied(format!(
                        "{} may not publish on {subject}: NATS says {refusal}",
                        inner.data.user
                    )),
                    None => Error::Unknown(format!("no answer on {subject} in {timeout:?}")),
                },
                RequestErrorKind::MaxPayloadExceeded => Error::TooLarge(too_large(client, size)),
                _ => Error::Unavailable(format!("the request to {subject}: {error}")),
            }),
        }
    }

    async fn ask_all(&self, message: Message) -> Result<Subscription, Error> {
        let headers = headers_out(&message.headers)?;
        let client = self.open()?.data_api.client();
        let inbox = client.new_inbox();
        let answers = client.subscribe(inbox.clone()).await;
        let answers = answers
            .map_err(|error| Error::Unavailable(format!("the subscription {inbox}: {error}")))?;
        let Message { subject, payload, .. } = message;
        let (size, payload) = (payload.len(), Bytes::from(payload));
        let sent = client.publish_with_reply_and_headers(subject, inbox, headers, payload).await;
        sent.map_err(|error| unsent(client, size, &error))?;
        Ok(self.until_closed(answers.map(|message| incoming(&message)).boxed()))
    }

    fn inbox(&self) -> String {
        let unique = self.inner.data_api.client().new_inbox();
        let unique = unique.rsplit_once('.').map_or(unique.as_str(), |(_, unique)| unique);
        subject::reply_inbox(unique)
    }

    async fn serve(
        &self,
        name: &str,
        version: &str,
        description: &str,
        endpoints: Vec<Endpoint>,
    ) -> Result<Subscription, Error> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Unavailable(format!("the service {name}: {error}"))
        };
        let client = self.open()?.data_api.client();
        let builder = client.service_builder().description(description);
        let service = builder.start(name, version).await.map_err(|error| failed(&error))?;
        let mut served = Vec::new();
        for Endpoint { name, subject } in endpoints {
            let endpoint = service.endpoint_builder().name(name).add(subject).await;
            let endpoint = endpoint.map_err(|error| failed(&error))?;
            served.push(endpoint.map(|request| incoming(&request.message)));
        }
        let requests = futures::stream::select_all(served);
        // The service answers `nats micro` as long as its requests are read.
        let requests = requests.map(move |request| {
            let _kept = &service;
            request
        });
        Ok(self.until_closed(requests.boxed()))
    }
}

impl NatsBus {
    fn until_closed(&self, messages: Subscription) -> Subscription {
        let closed = self.inner.closed.clone();
        messages.take_until(async move { closed.cancelled().await }).boxed()
    }
}

fn unsent(client: &Client, size: usize, error: &PublishError) -> Error {
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => Error::TooLarge(too_large(client, size)),
        _ => Error::Unavailable(error.to_string()),
    }
}

fn incoming(message: &async_nats::Message) -> Incoming {
    let reply = message.reply.as_ref().map(ToString::to_string);
    Incoming { message: message_in(message), reply }
}
