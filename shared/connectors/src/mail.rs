//! Mail, to the one SMTP server that the configuration names: with TLS from the start (`smtps://`),
//! by STARTTLS (`smtp://`), or without TLS (`smtp://…?tls=none`).
//!
//! A message is sent to all of its receivers or to none. A crash may send it again, with the same
//! `Message-ID`.

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::Mail;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use model::{Map, limits};
use reqwest::Url;

use crate::calls::{CallEnd, ErrorKind, with_cause};
use crate::depot::Depot;
use crate::files_left;
use crate::unfit::Unfit;

/// The beginning of a certificate in a PEM file.
const PEM: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// The settings of mail.
#[derive(Clone, Debug, Default)]
pub struct MailConfig {
    /// Such as `smtp://user:password@host:587`; mail is off if there is none.
    pub url: Option<String>,
    /// The sender of messages that name none.
    pub from: Option<String>,
    /// A PEM file with certificates of authorities to trust beside the usual ones.
    pub ca: Option<PathBuf>,
}

impl MailConfig {
    /// Refuses a server, a sender or a file with which no mail could be sent. The file is read; nothing
    /// is connected.
    ///
    /// # Errors
    /// The setting and the reason, without secrets.
    pub(crate) fn check(&self) -> Result<(), Unfit> {
        if let Some(from) = &self.from {
            mailbox(from).map_err(Unfit::of("smtp-from"))?;
        }
        let server = self.url.as_deref().map(server).transpose().map_err(Unfit::of("smtp-url"))?;
        let Some(path) = &self.ca else { return Ok(()) };
        let host = server.map_or_else(|| "localhost".to_owned(), |(_, host)| host);
        let trusted = authority(std::fs::read(path)).and_then(|ca| parameters(&host, Some(ca)));
        trusted.map(drop).map_err(Unfit::of("smtp-ca"))
    }
}

/// Sends messages.
pub(crate) struct Smtp {
    config: MailConfig,
    depot: Depot,
}

impl Smtp {
    pub(crate) fn new(config: MailConfig, depot: Depot) -> Self {
        Self { config, depot }
    }

    /// Sends the message, once.
    pub(crate) async fn send(&self, mail: &Mail, key: &str) -> CallEnd {
        match self.go(mail, key).await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn go(&self, mail: &Mail, key: &str) -> Result<CallEnd, CallEnd> {
        let Some(url) = &self.config.url else {
            return Err(CallEnd::refused(
                "there is no mail server: set `smtp-url`, such as smtp://user:password@host:587",
            ));
        };
        let loaded = self.loaded(mail).await?;
        let (message, id) = self.message(&loaded, key).map_err(CallEnd::refused)?;
        let transport = self.transport(url).await.map_err(CallEnd::refused)?;
        match transport.send(message).await {
            Ok(_) => Ok(CallEnd::Done(Map::from_iter([("messageId".to_owned(), id.into())]))),
            Err(error) => Err(failed(&error, url)),
        }
    }

    /// The message, with the bytes of its large attachments.
    async fn loaded(&self, mail: &Mail) -> Result<Mail, CallEnd> {
        let mut mail = mail.clone();
        let mut left = limits::PAYLOADS_LOADED_BYTES_MAX;
        for file in &mut mail.attachments {
            let Some(hash) = file.payload.take() else { continue };
            let read = self.depot.read(&hash, left).await;
            let bytes = read.map_err(|error| {
                CallEnd::refused(format!("the attachment {:?}: {error}", file.file_name))
            })?;
            left = left.saturating_sub(bytes.len() as u64);
            file.content = STANDARD.encode(bytes);
        }
        Ok(mail)
    }

    async fn transport(&self, url: &str) -> Result<AsyncSmtpTransport<Tokio1Executor>, String> {
        let wrong = |reason: String| format!("the setting `smtp-url` is wrong: {reason}");
        let (url, host) = server(url).map_err(wrong)?;
        let has_tls = !url.query_pairs().any(|(name, value)| name == "tls" && value == "none");
        let tls = match url.scheme() {
            "smtps" => Tls::Wrapper(self.parameters(&host).await?),
            _ if has_tls => Tls::Required(self.parameters(&host).await?),
            _ => Tls::None,
        };
        let usual = if url.scheme() == "smtps" { 465 } else { 587 };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
            .port(url.port().unwrap_or(usual))
            .timeout(Some(limits::CALL_TIME_MAX))
            .tls(tls);
        if !url.username().is_empty() {
            let plain = |text: &str| {
                percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
            };
            let password = plain(url.password().unwrap_or_default());
            builder = builder.credentials(Credentials::new(plain(url.username()), password));
        }
        Ok(builder.build())
    }

    async fn parameters(&self, host: &str) -> Result<TlsParameters, String> {
        let authority = match &self.config.ca {
            Some(path) => {
                let wrong = |reason: String| format!("`smtp-ca` {}: {reason}", path.display());
                Some(authority(tokio::fs::read(path).await).map_err(wrong)?)
            }
            None => None,
        };
        parameters(host, authority)
    }

    /// The message, and its id.
    fn message(&self, mail: &Mail, key: &str) -> Result<(Message, String), String> {
        let from =
            mail.from.as_ref().or(self.config.from.as_ref()).ok_or(
                "the message has no sender: give `from`, or an operator can set `smtp-from`",
            )?;
        let from = mailbox(from)?;
        let receivers = mail.to.len() + mail.cc.len() + mail.bcc.len();
        if receivers == 0 {
            return Err("the message has no receiver: give `to`".to_owned());
        }
        if receivers > limits::MAIL_RECEIVERS_MAX {
            return Err(format!(
                "the message has {receivers} receivers, more than the {} that are allowed",
                limits::MAIL_RECEIVERS_MAX
            ));
        }
        if mail.subject.chars().any(char::is_control) {
            return Err("the subject has a line break or another control character".to_owned());
        }
        let id = format!("<{}@{}>", identifier(key), from.email.domain());
        let mut builder =
            Message::builder().from(from).subject(&mail.subject).message_id(Some(id.clone()));
        for to in &mail.to {
            builder = builder.to(mailbox(to)?);
        }
        for cc in &mail.cc {
            builder = builder.cc(mailbox(cc)?);
        }
        for bcc in &mail.bcc {
            builder = builder.bcc(mailbox(bcc)?);
        }
        let body = SinglePart::html(mail.body.clone());
        let built = if mail.attachments.is_empty() {
            builder.singlepart(body)
        } else {
            let mut parts = MultiPart::mixed().singlepart(body);
            for file in &mail.attachments {
                parts = parts.singlepart(attachment(file)?);
            }
            builder.multipart(parts)
        };
        Ok((built.map_err(|error| format!("the message cannot be built: {error}"))?, id))
    }
}

/// The URL of the server, and its host.
fn server(url: &str) -> Result<(Url, String), String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or("it names no host")?.to_owned();
    match url.scheme() {
        "smtp" | "smtps" => Ok((url, host)),
        _ => Err("it begins with neither smtp:// nor smtps://".to_owned()),
    }
}

/// The certificate in the file of `smtp-ca`.
fn authority(read: io::Result<Vec<u8>>) -> Result<Certificate, String> {
    let pem = read.map_err(|error| format!("the file cannot be read: {error}"))?;
    if !pem.windows(PEM.len()).any(|part| part == PEM) {
        return Err("there is no certificate in it".to_owned());
    }
    Certificate::from_pem(&pem).map_err(|error| error.to_string())
}

/// What TLS to this host trusts.
fn parameters(host: &str, authority: Option<Certificate>) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(host.to_owned());
    for der in roots::bundled() {
        let root = Certificate::from_der(der.to_vec()).map_err(|error| error.to_string())?;
        builder = builder.add_root_certificate(root);
    }
    if let Some(authority) = authority {
        builder = builder.add_root_certificate(authority);
    }
    builder.build_rustls().map_err(|error| format!("TLS cannot be set up: {error}"))
}

fn mailbox(text: &str) -> Result<Mailbox, String> {
    text.trim().parse().map_err(|error| format!("{text:?} is not a mail address: {error}"))
}

fn attachment(file: &engine::Attachment) -> Result<SinglePart, String> {
    let wrong = |reason: String| format!("the attachment {:?}: {reason}", file.file_name);
    let bytes = STANDARD.decode(&file.content).map_err(|error| wrong(error.to_string()))?;
    let kind = ContentType::parse(&file.content_type).map_err(|error| wrong(error.to_string()))?;
    Ok(Attachment::new(file.file_name.clone()).body(bytes, kind))
}

/// The key, as the left side of a Message-ID has it.
fn identifier(key: &str) -> String {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if plain && !key.is_empty() { key.to_owned() } else { model::derived(&["mail", key]) }
}

fn failed(error: &lettre::transport::smtp::Error, url: &str) -> CallEnd {
    let code = error.status().map(|code| code.to_string());
    let kind = match (&code, error.is_timeout()) {
        _ if files_left::is_lack(error) => ErrorKind::Exhausted,
        (_, true) => ErrorKind::Timeout,
        (Some(_), false) => ErrorKind::Failed,
        (None, false) => ErrorKind::Connect,
    };
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        with_cause(&mut text, inner);
        source = inner.source();
    }
    // The library says the kind of an error again in each layer.
    let mut parts: Vec<_> = text.split(": ").collect();
    parts.dedup();
    let server = Url::parse(url).ok().and_then(|url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("mail server {}{port}: ", url.host_str()?))
    });
    let message = format!("{}{}", server.unwrap_or_default(), parts.join(": "));
    CallEnd::Error { kind, code, message }
}
