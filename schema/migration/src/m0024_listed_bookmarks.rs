//! An index that lists the bookmarks of tasks and of messages: those of a name, the oldest first.

pub(crate) const STATEMENTS: &[&str] =
    &["CREATE INDEX bookmarks_listed ON bookmarks (name, created_at, id)
        WHERE name IN ('Elsa.RunTask', 'Staunch.MessageReceived')"];
