//! Subjects and bounds, as the protocol has them.

/// The stream of the tasks.
pub(crate) const STREAM: &str = "STAUNCH_TASKS";
/// A larger command is refused, however large a message of this NATS may be.
const COMMAND_BYTES_MAX: usize = 512 * 1024;
/// What the subject and the headers of a command take at most of the broker's `max_payload`.
const HEADER_BYTES: usize = 2 * 1024;

/// The object store of values that no message carries.
pub(crate) const PAYLOADS_STORE: &str = "staunch_payloads";
/// A part of an object, unless a message of this NATS carries less.
pub(crate) const OBJECT_PART_BYTES: usize = 128 * 1024;
/// The largest result of a task, as JSON: no workflow could read a larger one.
pub(crate) const RESULT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The largest progress of a task, as JSON.
pub(crate) const PROGRESS_BYTES_MAX: usize = 64 * 1024;

/// Writes a name as one token of a subject.
#[must_use]
pub fn token(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("={byte:02X}"));
        }
    }
    if out.is_empty() { "=".to_owned() } else { out }
}

/// The name of an event: its dots separate tokens, unless one would be empty.
pub(crate) fn dotted(name: &str) -> String {
    if name.split('.').any(str::is_empty) {
        return token(name);
    }
    name.split('.').map(token).collect::<Vec<_>>().join(".")
}

/// The largest body of a command.
pub(crate) fn body_bytes_max(max_payload: usize) -> usize {
    fitting(COMMAND_BYTES_MAX, max_payload)
}

/// This many bytes, or what fits into a message of this NATS beside its headers.
pub(crate) fn fitting(bytes: usize, max_payload: usize) -> usize {
    bytes.min(max_payload.saturating_sub(HEADER_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_the_protocol_says() {
        assert_eq!(token("Charge Card"), "Charge=20Card");
        assert_eq!(token("a.ü"), "a=2E=C3=BC");
        assert_eq!(token(""), "=");
        assert_eq!(dotted("order.paid up"), "order.paid=20up");
        assert_eq!(dotted("a..b"), "a=2E=2Eb");
    }
}
