//! The files below `schema/wire`.

use std::path::{Path, PathBuf};

use protocol::{Headers, Message};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/wire")
}

/// All versions, the oldest first.
pub(crate) fn versions() -> Vec<u32> {
    let entries = std::fs::read_dir(root()).unwrap();
    let mut versions: Vec<u32> =
        entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).collect();
    versions.sort_unstable();
    assert!(!versions.is_empty(), "schema/wire has no version");
    versions
}

fn newest() -> u32 {
    versions().into_iter().max().unwrap()
}

/// The bytes of one file in every version that has it, the newest last.
pub(crate) fn every(name: &str) -> Vec<(u32, Vec<u8>)> {
    let path = |version: &u32| root().join(version.to_string()).join(name);
    let versions = versions().into_iter().filter(|version| path(version).exists());
    versions.map(|version| (version, std::fs::read(path(&version)).unwrap())).collect()
}

/// Checks that the bytes are those of the newest version. With `UPDATE_EXPECT=1` they are written
/// there.
pub(crate) fn must_be_newest(name: &str, bytes: &[u8]) {
    let path = root().join(newest().to_string()).join(name);
    #[expect(clippy::disallowed_methods, reason = "how snapshots are updated everywhere here")]
    if std::env::var("UPDATE_EXPECT").is_ok() {
        // Replaced atomically, for other tests that read the file at the same time.
        let new = path.with_extension("new");
        std::fs::write(&new, bytes).unwrap();
        std::fs::rename(&new, &path).unwrap();
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        expected == bytes,
        "{} is not what is written today.\nexpected: {}\nwritten:  {}\nA released version is never \
         changed: see schema/wire/README.md",
        path.display(),
        shown(&expected),
        shown(bytes)
    );
}

/// The names of all files of the newest version.
pub(crate) fn names() -> Vec<String> {
    let entries = std::fs::read_dir(root().join(newest().to_string())).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A message as a file: the subject, the headers, an empty line, the payload.
pub(crate) fn to_file(message: &Message) -> Vec<u8> {
    let mut head = format!("{}\n", message.subject);
    for (name, value) in &message.headers {
        head.push_str(&format!("{name}: {value}\n"));
    }
    head.push('\n');
    let mut bytes = head.into_bytes();
    bytes.extend(&message.payload);
    bytes
}

/// Reads a file that [`to_file`] wrote.
pub(crate) fn from_file(bytes: &[u8]) -> Message {
    let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.lines();
    let subject = lines.next().unwrap().to_owned();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), value.to_owned())
    };
    let headers: Headers = lines.map(header).collect();
    Message { subject, headers, payload: bytes[end + 2..].to_vec() }
}

/// Adds a member that no version knows to the objects at these places (JSON pointers).
pub(crate) fn with_unknown_members(value: &Value, places: &[&str]) -> Value {
    let mut value = value.clone();
    for place in places {
        let object = value.pointer_mut(place).and_then(Value::as_object_mut);
        let object = object.unwrap_or_else(|| panic!("there is no object at {place:?}"));
        object.insert("fromTomorrow".to_owned(), serde_json::json!({"a": [1]}));
    }
    value
}
