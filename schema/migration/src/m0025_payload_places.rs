//! Payloads whose parts are outside of the database.

pub(crate) const STATEMENTS: &[&str] = &[
    // The parts are in `payload_parts` if there is none.
    "ALTER TABLE payloads ADD COLUMN place {text}",
];
