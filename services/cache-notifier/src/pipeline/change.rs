//! Reads the requests of publishers and the positions of nodes.

use bus::Incoming;
use protocol::{CachePosition, Noticed, decode_body, subject};

/// A request to announce a definition; none when it cannot be read.
pub(super) fn request(incoming: &Incoming) -> Option<Noticed> {
    let message = &incoming.message;
    decode_body(message.content_type(), &message.payload)
        .inspect_err(|error| tracing::warn!(%error, "a cache announcement cannot be read"))
        .ok()
}

/// A node, and the pointer that it has; none when it cannot be read.
pub(super) fn position(incoming: &Incoming) -> Option<(String, CachePosition)> {
    let message = &incoming.message;
    let token = message.subject.strip_prefix(subject::CACHE_APPLIED)?.strip_prefix('.')?;
    let node = subject::untoken(token)?;
    let position = decode_body(message.content_type(), &message.payload).ok()?;
    Some((node, position))
}
