//! Random lengths of waits, and names that never repeat.

use std::time::Duration;

use rand::RngExt as _;

/// A length of time in this range.
pub(crate) fn between((least, most): (Duration, Duration)) -> Duration {
    let micros = least.as_micros() as u64..=most.as_micros() as u64;
    Duration::from_micros(generator().random_range(micros))
}

/// A new name.
#[expect(clippy::disallowed_methods, reason = "a measurement is not replayed")]
pub(crate) fn name() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[expect(clippy::disallowed_methods, reason = "a measurement is not replayed")]
fn generator() -> rand::rngs::ThreadRng {
    rand::rng()
}
