//! Users, roles, applications, sessions, signing keys, and the counts of failed logins.

pub(crate) const STATEMENTS: &[&str] = &[
    // Passwords and client secrets are Argon2id hashes in PHC form, keys SHA-256; roles and
    // permissions are JSON.
    "CREATE TABLE users (
        id {text} NOT NULL PRIMARY KEY,
        name {text} NOT NULL,
        password_hash {text} NOT NULL,
        roles {text} NOT NULL,
        is_disabled BOOLEAN NOT NULL,
        generation BIGINT NOT NULL,
        created_at BIGINT NOT NULL
    )",
    "CREATE UNIQUE INDEX users_name ON users (name)",
    "CREATE TABLE roles (
        id {text} NOT NULL PRIMARY KEY,
        name {text} NOT NULL,
        permissions {text} NOT NULL,
        created_at BIGINT NOT NULL
    )",
    "CREATE TABLE applications (
        id {text} NOT NULL PRIMARY KEY,
        name {text} NOT NULL,
        client_id {text} NOT NULL,
        secret_hash {text} NOT NULL,
        key_hash {text} NOT NULL,
        roles {text} NOT NULL,
        created_at BIGINT NOT NULL
    )",
    "CREATE UNIQUE INDEX applications_name ON applications (name)",
    "CREATE UNIQUE INDEX applications_client_id ON applications (client_id)",
    "CREATE INDEX applications_key_hash ON applications (key_hash)",
    // One row for each login, until its logout or expiry.
    "CREATE TABLE sessions (
        id {text} NOT NULL PRIMARY KEY,
        user_id {text} NOT NULL,
        generation BIGINT NOT NULL,
        token_id {text} NOT NULL,
        previous_id {text},
        rotated_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
    )",
    "CREATE INDEX sessions_user_id ON sessions (user_id)",
    "CREATE INDEX sessions_expires_at ON sessions (expires_at)",
    "CREATE TABLE signing_keys (
        id {text} NOT NULL PRIMARY KEY,
        secret {bytes} NOT NULL,
        created_at BIGINT NOT NULL,
        retired_at BIGINT
    )",
    // The subject is the hash of an account's name, or an address.
    "CREATE TABLE login_attempts (
        subject {text} NOT NULL PRIMARY KEY,
        attempts BIGINT NOT NULL,
        last_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
    )",
    "CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at)",
];
