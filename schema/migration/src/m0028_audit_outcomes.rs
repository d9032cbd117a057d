//! Changes in the audit log whose end was not known when their entry was written.

pub(crate) const STATEMENTS: &[&str] = &[
    // Entries of earlier versions have no value: they count as known.
    "ALTER TABLE audit ADD COLUMN is_accepted BOOLEAN",
];
