//! The handling of occurrences of a schedule that were missed while no timer ran.

use engine::{Descriptor, Failure, Step, Type};
use model::Misfire;

/// The number of missed occurrences that `FireAll` makes up for by default.
const FIRE_ALL_MAX: i64 = 100;

/// Adds the inputs that every schedule has.
pub(crate) fn with_misfire(descriptor: Descriptor) -> Descriptor {
    const WORDS: Type = Type::Enum(&["FireOnce", "FireAll", "Skip"]);
    descriptor
        .input("misfire", WORDS, "How to treat starts missed while no timer ran.")
        .default("FireOnce")
        .input("misfireMax", Type::Integer(32), "The most missed starts that FireAll makes up.")
        .default(FIRE_ALL_MAX)
}

/// Reads these inputs.
pub(crate) fn misfire(step: &mut Step<'_, '_>) -> Result<Misfire, Failure> {
    let max = step.integer("misfireMax")?.unwrap_or(FIRE_ALL_MAX);
    Ok(match step.value("misfire")?.as_str() {
        Some("FireAll") => match u32::try_from(max) {
            Ok(max) if max > 0 => Misfire::FireAll { max },
            _ => return Err(Failure::input("misfireMax", format!("{max} is not 1 or more"))),
        },
        Some("Skip") => Misfire::Skip,
        _ => Misfire::FireOnce,
    })
}
