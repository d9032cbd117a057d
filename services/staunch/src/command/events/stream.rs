//! Reads server-sent events, as the HTML standard writes them (section 9.2).

use std::time::Duration;

use serde_json::Value;

use crate::Failure;
use crate::client::Client;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The server shows a sign of life every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// One event.
#[derive(Debug, PartialEq)]
pub(super) struct Event {
    /// The place to go on from; events about the stream itself have none.
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) data: Value,
}

impl Event {
    /// The end of a stream of which only the past was asked for.
    pub(super) fn is_of_replay(&self) -> bool {
        self.data.get("isComplete").and_then(Value::as_bool) == Some(true)
    }

    /// Reads the lines of one event; none if they are only a sign of life.
    fn read(lines: &str) -> Option<Self> {
        let mut event = Self { id: None, name: String::new(), data: Value::Null };
        for line in lines.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_owned()),
                "event" => value.clone_into(&mut event.name),
                "data" => event.data = serde_json::from_str(value).unwrap_or_default(),
                _ => {}
            }
        }
        (!event.name.is_empty()).then_some(event)
    }
}

/// An open stream.
pub(super) struct Stream {
    answer: reqwest::Response,
    /// What has come of the next event.
    rest: Vec<u8>,
}

impl Stream {
    /// Opens a stream, after the event of this id if one is given.
    ///
    /// # Errors
    /// The refusal of the server; unavailable if it does not answer.
    pub(super) async fn open(
        client: &Client,
        path: &str,
        last: Option<&str>,
    ) -> Result<Self, Failure> {
        let header = last.map(|last| ("Last-Event-ID", last));
        Ok(Self { answer: client.follow(path, header).await?, rest: Vec::new() })
    }

    /// The next event; none when the server closed the connection.
    ///
    /// # Errors
    /// When the connection breaks, or nothing comes for long.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let lines: Vec<u8> = self.rest.drain(..end + 2).collect();
                if let Some(event) = Event::read(&String::from_utf8_lossy(&lines)) {
                    return Ok(Some(event));
                }
                continue;
            }
            if self.rest.len() > EVENT_BYTES_MAX {
                return Err(Failure::failed(format!(
                    "an event has more than {EVENT_BYTES_MAX} bytes"
                )));
            }
            match tokio::time::timeout(SILENCE_MAX, self.answer.chunk()).await {
                Ok(Ok(Some(chunk))) => self.rest.extend_from_slice(&chunk),
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => {
                    return Err(Failure::unavailable(format!("the connection broke: {error}")));
                }
                Err(_) => {
                    let seconds = SILENCE_MAX.as_secs();
                    return Err(Failure::unavailable(format!("nothing came for {seconds} s")));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_read_and_signs_of_life_are_not() {
        let event = Event::read("id: 7\nevent: finished\ndata: {\"a\":1}\n\n").unwrap();
        assert_eq!(
            event,
            Event { id: Some("7".into()), name: "finished".into(), data: json!({"a": 1}) }
        );
        assert_eq!(Event::read(": alive\n\n"), None);
        assert_eq!(Event::read("retry: 1000\n: open\n\n"), None);
        assert!(Event::read("event: end\ndata: {\"isComplete\":true}\n\n").unwrap().is_of_replay());
    }
}
