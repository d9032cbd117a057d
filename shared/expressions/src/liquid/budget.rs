//! The limits of one rendering.

use std::io::{self, Write};
use std::time::Instant;

use liquid_core::model::ValueView;
use liquid_core::{Error, Result, Runtime};
use model::Timestamp;

use super::fault::LATE;

/// The number of rounds of all loops of one rendering together.
pub(super) const ROUNDS_MAX: u64 = 100_000;
/// The size limit of a value that a filter takes or returns, in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The remaining budget of a rendering, and the time of the turn; stored in the rendering's
/// registers.
#[derive(Default)]
pub(super) struct Budget {
    deadline: Option<Instant>,
    rounds: u64,
    now: Timestamp,
}

impl Budget {
    pub(super) fn new(now: Timestamp, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), rounds: 0, now }
    }
}

/// The time of the turn.
pub(super) fn now(runtime: &dyn Runtime) -> Timestamp {
    runtime.registers().get_mut::<Budget>().now
}

/// Fails when the rendering takes too long.
pub(super) fn check_time(runtime: &dyn Runtime) -> Result<()> {
    let deadline = runtime.registers().get_mut::<Budget>().deadline;
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(Error::with_msg(LATE));
    }
    Ok(())
}

/// Counts one round of a loop; fails when no round is left.
pub(super) fn spend_round(runtime: &dyn Runtime) -> Result<()> {
    let rounds = {
        let mut budget = runtime.registers().get_mut::<Budget>();
        budget.rounds += 1;
        budget.rounds
    };
    if rounds > ROUNDS_MAX {
        return Err(too_many_rounds());
    }
    check_time(runtime)
}

/// The error of a template with too many rounds.
pub(super) fn too_many_rounds() -> Error {
    Error::with_msg(format!("the template's loops go more than {ROUNDS_MAX} rounds"))
}

/// Fails when a value is too large for a filter.
pub(super) fn check_size(value: &dyn ValueView) -> Result<()> {
    if weight(value, VALUE_BYTES_MAX) > VALUE_BYTES_MAX {
        return Err(Error::with_msg(format!(
            "a value in the template is larger than {} MiB",
            VALUE_BYTES_MAX / 1024 / 1024
        )));
    }
    Ok(())
}

/// The approximate size of a value in bytes; stops counting above `max`.
fn weight(value: &dyn ValueView, max: usize) -> usize {
    const ELEMENT: usize = 8;
    let mut total = ELEMENT;
    if let Some(array) = value.as_array() {
        for item in array.values() {
            total += weight(item, max.saturating_sub(total));
            if total > max {
                break;
            }
        }
    } else if let Some(object) = value.as_object() {
        for (key, item) in object.iter() {
            total += key.len() + weight(item, max.saturating_sub(total));
            if total > max {
                break;
            }
        }
    } else if let Some(scalar) = value.as_scalar() {
        total += scalar.into_string().len();
    }
    total
}

/// A text with a limit on its bytes.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    max: usize,
    full: bool,
}

impl Bounded {
    pub(super) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, full: false }
    }

    /// True when the limit was reached.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The text that was written.
    pub(super) fn into_text(self) -> std::result::Result<String, ()> {
        String::from_utf8(self.bytes).or(Err(()))
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            self.full = true;
            return Err(io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
