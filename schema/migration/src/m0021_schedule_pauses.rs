//! Pauses of schedules, and what schedules have done.

pub(crate) const STATEMENTS: &[&str] = &[
    // A row with `paused_at` does not fire. A pause stays when the definition is published anew.
    "ALTER TABLE schedules ADD COLUMN paused_at BIGINT",
    "ALTER TABLE schedules ADD COLUMN paused_by {text}",
    // The newest nominal time that was started for, and the occurrences that started nothing.
    "ALTER TABLE schedules ADD COLUMN last_at BIGINT",
    "ALTER TABLE schedules ADD COLUMN missed BIGINT NOT NULL DEFAULT 0",
];
