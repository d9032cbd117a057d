//! The statements of the pipeline. Their columns are those of the rows that `row.rs` makes.

use std::sync::LazyLock;

use crate::sql::Kind::{Bytes, Flag, Number, Small, Text};
use crate::sql::{Kind, Part, Sql};

type Columns = &'static [(&'static str, Kind)];

/// The cell of [`INSTANCE`] that has the activation key.
pub(crate) const INSTANCE_ACTIVATION_KEY: usize = 14;

const INSTANCE: Columns = &[
    ("id", Text),
    ("definition_id", Text),
    ("version_id", Text),
    ("definition_version", Number),
    ("version", Number),
    ("status", Text),
    ("correlation_id", Text),
    ("name", Text),
    ("parent_instance_id", Text),
    ("parent_bookmark_id", Text),
    ("incidents", Number),
    ("created_at", Number),
    ("updated_at", Number),
    ("finished_at", Number),
    ("activation_key", Text),
    ("search", Text),
    ("start_command", Bytes),
    ("state", Bytes),
];

const INSTANCE_CHANGE: Columns = &[
    ("id", Text),
    ("expected", Number),
    ("version", Number),
    ("status", Text),
    ("correlation_id", Text),
    ("name", Text),
    ("incidents", Number),
    ("updated_at", Number),
    ("finished_at", Number),
    ("activation_key", Text),
    ("search", Text),
    ("state", Bytes),
];

const BOOKMARK: Columns = &[
    ("id", Text),
    ("instance_id", Text),
    ("definition_id", Text),
    ("correlation_id", Text),
    ("shard", Small),
    ("name", Text),
    ("hash", Text),
    ("activity_id", Text),
    ("activity_node_id", Text),
    ("activity_instance_id", Text),
    ("payload", Text),
    ("route_template", Text),
    ("created_at", Number),
    ("due_at", Number),
];

const PENDING: Columns = &[
    ("id", Text),
    ("instance_id", Text),
    ("bookmark_id", Text),
    ("hash", Text),
    ("correlation_id", Text),
    ("accepted_at", Number),
    ("expires_at", Number),
    ("waiting", Flag),
    ("command", Bytes),
];

const JOURNAL: Columns = &[
    ("instance_id", Text),
    ("first_sequence", Number),
    ("entry_count", Number),
    ("entries", Bytes),
];

const OUTBOX: Columns =
    &[("id", Text), ("instance_id", Text), ("created_at", Number), ("message", Bytes)];

const TOKEN: Columns = &[
    ("hash", Text),
    ("instance_id", Text),
    ("target", Text),
    ("created_at", Number),
    ("expires_at", Number),
];

/// Starts and first bursts; answers the ids that were free.
pub(crate) static INSERT_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("instances", INSTANCE, "ON CONFLICT (id) DO NOTHING RETURNING id")
});

/// First bursts that nobody has looked for before; answers the ids that were free or unstarted.
pub(crate) static START_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert(
        "instances",
        INSTANCE,
        "ON CONFLICT (id) DO UPDATE SET version_id = excluded.version_id,
         definition_version = excluded.definition_version, version = excluded.version,
         status = excluded.status, correlation_id = excluded.correlation_id,
         name = excluded.name, incidents = excluded.incidents, updated_at = excluded.updated_at,
         finished_at = excluded.finished_at, activation_key = excluded.activation_key,
         search = excluded.search, start_command = NULL, state = excluded.state
         WHERE instances.version = 0 RETURNING id",
    )
});

/// Later bursts; answers the ids whose version was the expected one.
pub(crate) static UPDATE_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        INSTANCE_CHANGE,
        "UPDATE instances SET version = n.version, status = n.status,
         correlation_id = n.correlation_id, name = n.name, incidents = n.incidents,
         updated_at = n.updated_at, finished_at = n.finished_at,
         activation_key = n.activation_key, search = n.search, state = n.state,
         start_command = CASE WHEN n.status = 'Pending' THEN instances.start_command END
         FROM {rows} WHERE instances.id = n.id AND instances.version = n.expected
         RETURNING instances.id",
    )
});

/// Who holds these activation keys.
pub(crate) static SELECT_HOLDERS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("activation_key", Text)],
        "SELECT activation_key, id FROM instances
         WHERE activation_key IN (SELECT n.activation_key FROM {rows})",
    )
});

/// Instances as bursts begin with them.
pub(crate) static SELECT_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("id", Text)],
        "SELECT id, definition_id, version_id, definition_version, version, status,
         correlation_id, name, parent_instance_id, parent_bookmark_id, incidents, created_at,
         updated_at, finished_at, state, start_command
         FROM instances WHERE id IN (SELECT n.id FROM {rows})",
    )
});

/// The versions of these instances.
pub(crate) static SELECT_VERSIONS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("id", Text)],
        "SELECT id, version FROM instances WHERE id IN (SELECT n.id FROM {rows})",
    )
});

pub(crate) static DELETE_BOOKMARKS: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("bookmarks", &[("id", Text), ("instance_id", Text)]));

pub(crate) static INSERT_BOOKMARKS: LazyLock<Sql> =
    LazyLock::new(|| Sql::insert("bookmarks", BOOKMARK, "ON CONFLICT DO NOTHING"));

pub(crate) static INSERT_JOURNAL: LazyLock<Sql> =
    LazyLock::new(|| Sql::insert("journal", JOURNAL, ""));

/// Commands; answers the ids that were free.
pub(crate) static INSERT_PENDING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("pending_resumes", PENDING, "ON CONFLICT (id) DO NOTHING RETURNING id")
});

/// Commands that wait, new or kept already.
pub(crate) static UPSERT_WAITING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert(
        "pending_resumes",
        PENDING,
        "ON CONFLICT (id) DO UPDATE SET instance_id = excluded.instance_id,
         bookmark_id = excluded.bookmark_id, hash = excluded.hash,
         correlation_id = excluded.correlation_id, expires_at = excluded.expires_at,
         waiting = excluded.waiting",
    )
});

pub(crate) static DELETE_PENDING: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("pending_resumes", &[("id", Text)]));

pub(crate) static INSERT_OUTBOX: LazyLock<Sql> =
    LazyLock::new(|| Sql::insert("outbox", OUTBOX, "ON CONFLICT (id) DO NOTHING"));

pub(crate) static DELETE_OUTBOX: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("outbox", &[("id", Text)]));

pub(crate) static INSERT_TOKENS: LazyLock<Sql> =
    LazyLock::new(|| Sql::insert("tokens", TOKEN, "ON CONFLICT (hash) DO NOTHING"));

/// Uses tokens up that are good at that time; answers those that were.
pub(crate) static TAKE_TOKENS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("hash", Text), ("at", Number)],
        "DELETE FROM tokens WHERE hash IN (
            SELECT t.hash FROM {rows} JOIN tokens AS t ON t.hash = n.hash AND t.expires_at > n.at)
         RETURNING hash",
    )
});

/// Marks events as handed out; answers those that were not.
pub(crate) static TAKE_EVENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert(
        "routed_events",
        &[("id", Text), ("routed_at", Number)],
        "ON CONFLICT (id) DO NOTHING RETURNING id",
    )
});

/// Removes waiting commands whose time is over; answers their ids.
pub(crate) static TAKE_OVERDUE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("id", Text), ("at", Number)],
        "DELETE FROM pending_resumes WHERE id IN (
            SELECT p.id FROM {rows} JOIN pending_resumes AS p ON p.id = n.id
            WHERE p.waiting AND p.expires_at <= n.at)
         RETURNING id",
    )
});

/// Advances schedules whose counter is the expected one; answers their ids.
pub(crate) static ADVANCE_SCHEDULES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("id", Text), ("expected", Number), ("occurrence", Number), ("next_at", Number)],
        "UPDATE schedules SET occurrence = n.occurrence, next_at = n.next_at FROM {rows}
         WHERE schedules.id = n.id AND schedules.occurrence = n.expected AND NOT schedules.retired
         RETURNING schedules.id",
    )
});

/// Waiting commands that these bookmarks may answer: each of the ways to aim has an index that
/// finds what is aimed so, and nothing else. Whether one is answered is decided by
/// [`store::PendingCommand::is_answered_by`].
pub(crate) static SELECT_ANSWERED: LazyLock<Sql> = LazyLock::new(|| {
    const COLUMNS: &str =
        "id, instance_id, bookmark_id, hash, correlation_id, accepted_at, command";
    const AIMS: [&str; 5] = [
        "hash IS NOT NULL
         AND (hash, instance_id) IN (SELECT b.hash, b.instance_id FROM new_bookmarks AS b)",
        "hash IS NOT NULL AND instance_id IS NULL
         AND (hash, correlation_id) IN (SELECT b.hash, b.correlation_id FROM new_bookmarks AS b)",
        "hash IS NOT NULL AND instance_id IS NULL AND correlation_id IS NULL
         AND hash IN (SELECT b.hash FROM new_bookmarks AS b)",
        "hash IS NULL AND bookmark_id IS NOT NULL
         AND bookmark_id IN (SELECT b.id FROM new_bookmarks AS b)",
        "hash IS NULL AND bookmark_id IS NULL AND instance_id IS NOT NULL
         AND instance_id IN (SELECT b.instance_id FROM new_bookmarks AS b)",
    ];
    let aimed = |aim| format!("SELECT {COLUMNS} FROM pending_resumes WHERE waiting AND {aim}");
    Sql::over(
        &[("id", Text), ("instance_id", Text), ("hash", Text), ("correlation_id", Text)],
        &format!(
            "WITH new_bookmarks AS (SELECT n.id, n.instance_id, n.hash, n.correlation_id FROM {{rows}})
             {} ORDER BY 6, 1 LIMIT 10000",
            AIMS.map(aimed).join(" UNION ALL ")
        ),
    )
});

/// What the bursts of a batch settle, each row with the instance whose burst it is.
static SETTLE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        &[("id", Text), ("instance_id", Text)],
        "DELETE FROM pending_resumes WHERE id IN (SELECT n.id FROM {rows})",
    )
});

// The parts of a batch of bursts that PostgreSQL writes as one statement.

pub(crate) static BEGUN: Part = Part { name: "begun", sql: &START_INSTANCES, follows: false };
pub(crate) static MOVED: Part = Part { name: "moved", sql: &UPDATE_INSTANCES, follows: false };
pub(crate) static BURNED: Part = Part { name: "burned", sql: &DELETE_BOOKMARKS, follows: true };
pub(crate) static CREATED: Part = Part { name: "created", sql: &INSERT_BOOKMARKS, follows: true };
pub(crate) static NOTED: Part = Part { name: "noted", sql: &INSERT_JOURNAL, follows: true };
pub(crate) static SETTLED: Part = Part { name: "settled", sql: &SETTLE, follows: true };
pub(crate) static TOLD: Part = Part { name: "told", sql: &INSERT_OUTBOX, follows: true };
pub(crate) static PUBLISHED: Part = Part { name: "published", sql: &DELETE_OUTBOX, follows: false };
