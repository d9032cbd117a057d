//! Searches everything that a cluster keeps and sends for a text, in every form that a text has.

use std::path::Path;

use async_nats::{Client, Subscriber, jetstream};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::process::Command;

/// The end of what a [`Wire`] collects.
const END: &str = "test.end";
/// All rows of all tables of an SQLite file; bytes in hexadecimal.
const DUMP: &str =
    "import sqlite3, sys\nfor line in sqlite3.connect(sys.argv[1]).iterdump(): print(line)";

/// A text in the forms in which it could be kept: as it is, in hexadecimal, and in base64 wherever
/// it begins.
pub(crate) fn forms(text: &str) -> Vec<Vec<u8>> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![text.to_owned(), hex.to_uppercase(), hex];
    for before in 0..3 {
        let bytes = [&b"xx"[..before], text.as_bytes()].concat();
        let whole = bytes.len() / 3 * 4;
        let begin = if before == 0 { 0 } else { 4 };
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.push(encoded[begin..whole].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// Ends the test if the bytes have one of these forms; shows what is around it.
#[track_caller]
pub(crate) fn must_not_have(place: &str, bytes: &[u8], forms: &[Vec<u8>]) {
    for form in forms {
        let Some(at) = bytes.windows(form.len()).position(|part| part == form) else { continue };
        let around = &bytes[at.saturating_sub(300)..(at + form.len() + 100).min(bytes.len())];
        panic!("{place} has a value: {}", String::from_utf8_lossy(around));
    }
}

/// All rows of all tables.
pub(crate) async fn database(url: &str) -> Vec<u8> {
    let Some(file) = url.strip_prefix("sqlite://") else { return postgres(url).await };
    let file = file.split('?').next().unwrap();
    run("python3", &["-c", DUMP, file]).await
}

async fn postgres(url: &str) -> Vec<u8> {
    let list = "select tablename from pg_tables where schemaname = 'public'";
    let tables = run("psql", &[url, "-Atc", list]).await;
    let mut dump = Vec::new();
    for table in String::from_utf8(tables).unwrap().lines() {
        let copy = format!("copy (select * from \"{table}\") to stdout");
        dump.extend(format!("-- {table}\n").into_bytes());
        dump.extend(run("psql", &[url, "-c", &copy]).await);
    }
    dump
}

async fn run(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().await.unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// All messages of all streams, those of buckets included; and the names of the streams.
pub(crate) async fn streams(client: &Client) -> (Vec<u8>, Vec<String>) {
    let context = jetstream::new(client.clone());
    let names: Vec<String> = context.stream_names().try_collect().await.unwrap();
    let mut found = Vec::new();
    for name in &names {
        let mut stream = context.get_stream(name).await.unwrap();
        let state = stream.info().await.unwrap().state.clone();
        for number in state.first_sequence..=state.last_sequence {
            // Some of them are gone.
            let Ok(message) = stream.get_raw_message(number).await else { continue };
            found.extend(
                format!("\n{name} {} {:?} ", message.subject, message.headers).into_bytes(),
            );
            found.extend_from_slice(&message.payload);
        }
    }
    (found, names)
}

/// Everything that crosses the broker.
pub(crate) struct Wire {
    client: Client,
    messages: Subscriber,
}

impl Wire {
    pub(crate) async fn watch(client: &Client) -> Self {
        let messages = client.subscribe(">").await.unwrap();
        client.flush().await.unwrap();
        Self { client: client.clone(), messages }
    }

    /// All messages until now.
    pub(crate) async fn collected(mut self) -> Vec<u8> {
        self.client.publish(END, "".into()).await.unwrap();
        let mut found = Vec::new();
        while let Some(message) = self.messages.next().await {
            if message.subject.as_str() == END {
                break;
            }
            found.extend(format!("\n{} {:?} ", message.subject, message.headers).into_bytes());
            found.extend_from_slice(&message.payload);
        }
        found
    }
}

/// The bytes of all files below a folder, but for those with these names.
pub(crate) fn files(folder: &Path, but: &[&str]) -> Vec<u8> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path, but));
        } else if !but.contains(&name.as_str()) {
            // A file may be gone meanwhile.
            found.extend(std::fs::read(&path).unwrap_or_default());
        }
    }
    found
}

mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_every_form() {
        let forms = forms("hunter2");
        let found = |text: &str| {
            forms.iter().any(|form| text.as_bytes().windows(form.len()).any(|part| part == form))
        };
        for prefix in ["", "a", "ab", "abc", "Bearer "] {
            for suffix in ["", "x", "xy", "xyz"] {
                let text = format!("{prefix}hunter2{suffix}");
                let hex: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
                let encoded = STANDARD_NO_PAD.encode(&text);
                assert!(found(&text) && found(&hex) && found(&encoded), "{text}");
            }
        }
        assert!(!found("hunter 2") && !found("SHVudGVyMg"));
    }
}
