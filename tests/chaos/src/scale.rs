//! The size of the tests: a sample by `cargo test`, everything by `just chaos`.

/// True when everything is run (`STAUNCH_CHAOS=full`, or `calm`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn is_full() -> bool {
    std::env::var("STAUNCH_CHAOS").is_ok_and(|value| value == "full") || is_calm()
}

/// True if the storm test runs for the same time without breaking anything, to show the changes
/// that come without faults (`STAUNCH_CHAOS=calm`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn is_calm() -> bool {
    std::env::var("STAUNCH_CHAOS").is_ok_and(|value| value == "calm")
}

/// The one pass of the five of a long test that is run, from 1; None for all of them
/// (`STAUNCH_CHAOS_TURN`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn turn() -> Option<usize> {
    std::env::var("STAUNCH_CHAOS_TURN").ok().map(|turn| turn.parse().unwrap())
}

/// The amount for a full run or for a sample.
pub(crate) fn pick<T>(sample: T, full: T) -> T {
    if is_full() { full } else { sample }
}
