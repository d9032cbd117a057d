//! How much is run: a sample with all other tests, everything by `just chaos`.

/// Whether everything is to be run (`STAUNCH_CHAOS=full`, or `calm`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn is_full() -> bool {
    std::env::var("STAUNCH_CHAOS").is_ok_and(|value| value == "full") || is_calm()
}

/// Whether the storm is a calm of the same length, to see what changes by itself
/// (`STAUNCH_CHAOS=calm`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn is_calm() -> bool {
    std::env::var("STAUNCH_CHAOS").is_ok_and(|value| value == "calm")
}

/// The only one of the five turns of a long test that is to be run, from 1, where one is named
/// (`STAUNCH_CHAOS_TURN`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn turn() -> Option<usize> {
    std::env::var("STAUNCH_CHAOS_TURN").ok().map(|turn| turn.parse().unwrap())
}

/// One of the two amounts.
pub(crate) fn pick<T>(sample: T, full: T) -> T {
    if is_full() { full } else { sample }
}
