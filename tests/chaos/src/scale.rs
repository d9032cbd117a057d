//! How much is run: a sample with all other tests, everything by `just chaos`.

/// Whether everything is to be run (`STAUNCH_CHAOS=full`).
#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
pub(crate) fn is_full() -> bool {
    std::env::var("STAUNCH_CHAOS").is_ok_and(|value| value == "full")
}

/// One of the two amounts.
pub(crate) fn pick<T>(sample: T, full: T) -> T {
    if is_full() { full } else { sample }
}
