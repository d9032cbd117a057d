//! The users of API keys.

pub(crate) const STATEMENTS: &[&str] = &[
    // The user who made the key, or whose key made it: it is good while that user can log in.
    "ALTER TABLE api_keys ADD COLUMN user_id {text}",
];
