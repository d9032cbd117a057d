//! Accepted commands that are not applied yet.

pub(crate) const STATEMENTS: &[&str] = &[
    // `command` is MessagePack. A waiting command came too early and waits for its bookmark.
    "CREATE TABLE pending_resumes (
        id {text} NOT NULL PRIMARY KEY,
        instance_id {text},
        bookmark_id {text},
        hash {text},
        correlation_id {text},
        accepted_at BIGINT NOT NULL,
        expires_at BIGINT,
        waiting BOOLEAN NOT NULL,
        command {bytes} NOT NULL
    )",
    "CREATE INDEX pending_resumes_unapplied ON pending_resumes (accepted_at) WHERE NOT waiting",
    "CREATE INDEX pending_resumes_waiting ON pending_resumes (accepted_at) WHERE waiting",
    "CREATE INDEX pending_resumes_hash ON pending_resumes (hash)
        WHERE waiting AND hash IS NOT NULL",
    "CREATE INDEX pending_resumes_bookmark_id ON pending_resumes (bookmark_id)
        WHERE waiting AND bookmark_id IS NOT NULL",
    "CREATE INDEX pending_resumes_instance_id ON pending_resumes (instance_id)
        WHERE instance_id IS NOT NULL",
    "CREATE INDEX pending_resumes_expires_at ON pending_resumes (expires_at)
        WHERE waiting AND expires_at IS NOT NULL",
];
