//! Plain messages, delivered at most once to those who subscribe at that moment, and request-reply
//! endpoints.

use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use protocol::Message;

use crate::Error;

/// A message, and the subject on which its sender wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The message.
    pub message: Message,
    /// The subject for an answer; `None` when the sender wants none.
    pub reply: Option<String>,
}

/// Messages as they come. Survives reconnects; ends when the bus is closed.
pub type Subscription = BoxStream<'static, Incoming>;

/// As [`Subscription`], until the server refuses it: then its last item is [`Error::Denied`], after which
/// nothing comes.
pub type Attempt = BoxStream<'static, Result<Incoming, Error>>;

/// One endpoint of a service, as the NATS Services API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its name, such as `start`.
    pub name: String,
    /// Its subject, such as `staunch.api.start.*`.
    pub subject: String,
}

/// Plain messages.
#[async_trait]
pub trait Wire: Send + Sync {
    /// Sends to those who subscribe at this moment.
    ///
    /// # Errors
    /// [`Error::TooLarge`] names the size and the limit; others when the connection is closed.
    async fn send(&self, message: Message) -> Result<(), Error>;

    /// Listens on a subject, with NATS wildcards. Each subscriber gets every message.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn subscribe(&self, subject: &str) -> Result<Subscription, Error>;

    /// As [`Wire::subscribe`], for a subject that the login of this process may not be allowed to hear:
    /// whoever gets the refusal may try again later, because a server may take on other permissions
    /// without a new connection. The log tells a refusal that comes again only once.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn subscribe_if_allowed(&self, subject: &str) -> Result<Attempt, Error>;

    /// Sends and waits for one answer.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nobody subscribes, [`Error::Unknown`] when no answer comes in
    /// time, [`Error::TooLarge`] with the size and the limit.
    async fn request(&self, message: Message, timeout: Duration) -> Result<Message, Error>;

    /// Sends, and gives the answers of all who hear it, as they come; they have no end. What the
    /// server says itself, such as that nobody listens, may be among them.
    ///
    /// # Errors
    /// As [`Wire::send`] and [`Wire::subscribe`].
    async fn ask_all(&self, message: Message) -> Result<Subscription, Error>;

    /// A subject for the outcomes of this process, below `staunch.reply.`; each call returns
    /// another one.
    fn inbox(&self) -> String;

    /// Registers a service under this name and version with the Services API, so that
    /// `nats micro ls` shows it, and gives the requests to its endpoints. Each request goes to one
    /// of the services of the same name.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn serve(
        &self,
        name: &str,
        version: &str,
        description: &str,
        endpoints: Vec<Endpoint>,
    ) -> Result<Subscription, Error>;
}
