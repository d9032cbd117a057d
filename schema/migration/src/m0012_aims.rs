//! Indexes that find bookmarks and early commands by instance or correlation id as well as by hash:
//! many instances may wait for the same event while a command addresses only one of them.

pub(crate) const STATEMENTS: &[&str] = &[
    "CREATE INDEX bookmarks_aim ON bookmarks (hash, instance_id)",
    "DROP INDEX bookmarks_hash",
    "CREATE INDEX bookmarks_correlation ON bookmarks (correlation_id, hash)
        WHERE correlation_id IS NOT NULL",
    "DROP INDEX bookmarks_correlation_id",
    "CREATE INDEX pending_resumes_aim ON pending_resumes (hash, instance_id, correlation_id)
        WHERE waiting AND hash IS NOT NULL",
    "DROP INDEX pending_resumes_hash",
];
