//! One HTTP/1.1 connection that stays open: a request, its response, the next request. It supports
//! only the HTTP that our own servers use, because a full client would take CPU time from the
//! measured processes.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use model::limits;
use serde_json::Value;

use crate::access::Access;
use crate::stream::Stream;

/// The longest wait for one response.
const ANSWER_MAX: Duration = Duration::from_secs(40);
/// The size limit of an answer in bytes: a large payload and its head.
const BYTES_MAX: u64 = limits::PAYLOAD_BYTES_MAX + (4 << 20);

/// A connection to one server, made when it is needed.
#[derive(Debug)]
pub struct Connection {
    host: String,
    access: Access,
    is_encrypted: bool,
    stream: Option<Stream>,
    buffer: Vec<u8>,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// 100 to 599.
    pub status: u16,
    /// The whole body.
    pub body: &'a [u8],
}

impl Connection {
    /// A connection to the server at `http://host:port`, or `https://host:port` where the access
    /// has the authority of its certificate.
    ///
    /// # Errors
    /// When the address has another form.
    pub fn to(url: &str, access: &Access) -> anyhow::Result<Self> {
        let bare = url.trim_end_matches('/');
        let is_encrypted = access.has_tls() && bare.starts_with("https://");
        let scheme = if is_encrypted { "https://" } else { "http://" };
        let host = bare.strip_prefix(scheme);
        let host = host.filter(|host| host.contains(':') && !host.contains('/'));
        let host = host.with_context(|| {
            format!("{url:?} is no address for a load: use one such as http://127.0.0.1:5001")
        })?;
        let (host, access) = (host.to_owned(), access.clone());
        Ok(Self { host, access, is_encrypted, stream: None, buffer: Vec::new() })
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    /// When the connection breaks, or no response comes within 40 s; the next request opens a new
    /// connection.
    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<Reply<'_>> {
        let head = self.head(method, path, "application/json", body.len());
        // One write: a small request is one packet.
        self.exchange(&[format!("{head}{body}").as_bytes()]).await
    }

    /// Sends bytes with `POST`, and waits for the answer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(crate) async fn upload(&mut self, path: &str, body: &[u8]) -> anyhow::Result<Reply<'_>> {
        let head = self.head("POST", path, "application/octet-stream", body.len());
        self.exchange(&[head.as_bytes(), body]).await
    }

    fn head(&self, method: &str, path: &str, content_type: &str, length: usize) -> String {
        let authorization = self.access.authorization();
        let authorization = authorization.map(|value| format!("Authorization: {value}\r\n"));
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {content_type}\r\n\
             Content-Length: {length}\r\n{}\r\n",
            self.host,
            authorization.unwrap_or_default(),
        )
    }

    async fn exchange(&mut self, parts: &[&[u8]]) -> anyhow::Result<Reply<'_>> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect().await?,
        };
        self.buffer.clear();
        let asked = async {
            for part in parts {
                stream.write(part).await?;
            }
            read(&mut stream, &mut self.buffer).await
        };
        let asked = tokio::time::timeout(ANSWER_MAX, asked).await;
        let asked = asked.with_context(|| format!("no answer within {ANSWER_MAX:?}"))?;
        let head = asked.with_context(|| {
            let line = parts.first().copied().unwrap_or_default();
            let line = line.split(|byte| *byte == b'\r').next().unwrap_or_default();
            format!("{} at {}", String::from_utf8_lossy(line), self.host)
        })?;
        if head.is_kept {
            self.stream = Some(stream);
        }
        Ok(Reply { status: head.status, body: &self.buffer[head.length..] })
    }

    /// The same, and the response has to be a success; returns its JSON, null if it has no body.
    ///
    /// # Errors
    /// When it is refused: the text has the server's message.
    pub async fn call(&mut self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.send(method, path, &text).await?;
        let said = String::from_utf8_lossy(reply.body);
        ensure!((200..300).contains(&reply.status), "{method} {path}: {} {said}", reply.status);
        Ok(serde_json::from_str(&said).unwrap_or_default())
    }

    async fn connect(&self) -> anyhow::Result<Stream> {
        let tls = self.access.tls().filter(|_| self.is_encrypted);
        let stream = tokio::time::timeout(ANSWER_MAX, Stream::connect(&self.host, tls)).await;
        stream.with_context(|| format!("no connection within {ANSWER_MAX:?}"))?
    }
}

/// The head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// The length of the head in bytes.
    length: usize,
    body: usize,
    is_kept: bool,
}

async fn read(stream: &mut Stream, buffer: &mut Vec<u8>) -> anyhow::Result<Head> {
    let mut head = None;
    loop {
        ensure!(buffer.len() as u64 <= BYTES_MAX, "the answer is too large");
        if head.is_none() {
            head = parse(buffer)?;
        }
        if let Some(head) = head
            && buffer.len() >= head.length + head.body
        {
            return Ok(head);
        }
        ensure!(stream.read(buffer).await? > 0, "the server closed the connection");
    }
}

fn parse(buffer: &[u8]) -> anyhow::Result<Option<Head>> {
    let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&buffer[..end]).context("the head is not UTF-8")?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.with_context(|| format!("{first:?} is not an HTTP status line"))?;
    let mut head = Head { status, length: end + 4, body: 0, is_kept: true };
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            head.body = value.parse().context("its Content-Length is not a number")?;
        } else if name.eq_ignore_ascii_case("connection") {
            head.is_kept = !value.eq_ignore_ascii_case("close");
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            bail!("the answer comes in pieces, which this client does not read");
        }
    }
    Ok(Some(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let text = b"HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        assert_eq!(parse(&text[..30]).unwrap(), None);
        let head = Head { status: 202, length: text.len() - 5, body: 5, is_kept: false };
        assert_eq!(parse(text).unwrap(), Some(head));
        assert!(parse(b"nonsense\r\n\r\n").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
    }

    #[test]
    fn an_address_is_checked() {
        for url in ["https://a:1", "localhost", "http://nowhere", "http://a:1/x"] {
            assert!(Connection::to(url, &Access::default()).is_err(), "{url}");
        }
        assert!(Connection::to("http://127.0.0.1:5001/", &Access::default()).is_ok());
    }
}
