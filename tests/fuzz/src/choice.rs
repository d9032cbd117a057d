//! The way in which a target reads its bytes.

/// The first byte, which chooses among several ways, and the rest.
pub(crate) fn choice(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}
