//! The statements of the pipeline. Their columns are derived from the entities in `entity/`.

use std::sync::LazyLock;

use sea_orm::IdenStatic as _;

use crate::columns::Kind::{Number, Text};
use crate::columns::{Columns, Kind};
use crate::entity::{bookmark, instance, journal, outbox, pending, routed_event, token, value};
use crate::joined::Part;
use crate::sql::Sql;

static INSTANCE: LazyLock<Columns> = LazyLock::new(Columns::of::<instance::Entity>);
static PENDING: LazyLock<Columns> = LazyLock::new(Columns::of::<pending::Entity>);

fn keys(columns: &[(&'static str, Kind)]) -> Columns {
    Columns::new(columns)
}

/// Starts of deleted versions are not inserted.
const NOT_DELETED: &str =
    "NOT EXISTS (SELECT 1 FROM deleted_versions AS d WHERE d.version_id = n.version_id)";

/// Starts and first bursts; returns the ids that were free.
pub(crate) static ACCEPT_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    let tail = "ON CONFLICT (id) DO NOTHING RETURNING id";
    Sql::insert_where("instances", INSTANCE.clone(), NOT_DELETED, tail)
});

/// Starts that a burst or a schedule creates, also of deleted versions: their first burst is
/// refused and ends them.
pub(crate) static INSERT_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("instances", INSTANCE.clone(), "ON CONFLICT (id) DO NOTHING RETURNING id")
});

/// First bursts of instances that have never been loaded; returns the ids that were free or
/// unstarted. A first burst has no start command, so the row loses its own.
pub(crate) static START_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    let changed = INSTANCE.without(&instance::ACCEPTED).assigned("excluded");
    let tail = format!(
        "ON CONFLICT (id) DO UPDATE SET {changed} WHERE instances.version = 0 RETURNING id"
    );
    Sql::insert_where("instances", INSTANCE.clone(), NOT_DELETED, &tail)
});

/// Later bursts; returns the ids whose version was the expected one, which is the last cell of a
/// row.
pub(crate) static UPDATE_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    let changed = INSTANCE.without(&instance::ACCEPTED).without(&[instance::Column::StartCommand]);
    let text = format!(
        "UPDATE instances SET {},
         start_command = CASE WHEN n.status = 'Pending' THEN instances.start_command END
         FROM {{rows}} WHERE instances.id = n.id AND instances.version = n.expected
         RETURNING instances.id",
        changed.assigned("n")
    );
    let columns = changed.and("id", Text, instance::Column::Id as usize);
    Sql::over(columns.and("expected", Number, INSTANCE.len()), &text)
});

/// The instances that hold these activation keys.
pub(crate) static SELECT_HOLDERS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("activation_key", Text)]),
        "SELECT activation_key, id FROM instances
         WHERE activation_key IN (SELECT n.activation_key FROM {rows})",
    )
});

/// Instances as bursts load them: the place of the request, the size of the state, and the row, whose
/// state is NULL where it has more bytes than were asked for. Neither database reads a large value to
/// learn its length.
pub(crate) static SELECT_INSTANCES: LazyLock<Sql> = LazyLock::new(|| {
    let state = instance::Column::State.as_str();
    let read = INSTANCE.listed(|name| {
        let unread = instance::UNREAD.iter().find(|(column, _)| column.as_str() == name);
        match unread {
            Some((_, empty)) => format!("{empty} AS {name}"),
            None if name == state => {
                format!("CASE WHEN length({name}) <= n.bytes_max THEN {name} END AS {name}")
            }
            None => name.to_owned(),
        }
    });
    let text = format!(
        "SELECT n.place, CAST(length({state}) AS bigint), {read}
         FROM instances JOIN {{rows}} ON instances.id = n.wanted_id"
    );
    Sql::over(keys(&[("place", Number), ("wanted_id", Text), ("bytes_max", Number)]), &text)
});

/// Of the starts that were not written, those whose definition version was deleted. An instance
/// with that id and at least that version has prevented the start itself.
pub(crate) static SELECT_GONE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("id", Text), ("version_id", Text), ("version", Number)]),
        "SELECT n.id FROM {rows} JOIN deleted_versions AS d ON d.version_id = n.version_id
         WHERE NOT EXISTS (
            SELECT 1 FROM instances AS i WHERE i.id = n.id AND i.version >= n.version)",
    )
});

/// The versions of these instances.
pub(crate) static SELECT_VERSIONS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("id", Text)]),
        "SELECT id, version FROM instances WHERE id IN (SELECT n.id FROM {rows})",
    )
});

pub(crate) static DELETE_BOOKMARKS: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("bookmarks", keys(&[("id", Text), ("instance_id", Text)])));

pub(crate) static INSERT_BOOKMARKS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("bookmarks", Columns::of::<bookmark::Entity>(), "ON CONFLICT DO NOTHING")
});

pub(crate) static INSERT_JOURNAL: LazyLock<Sql> =
    LazyLock::new(|| Sql::insert("journal", Columns::of::<journal::Entity>(), ""));

/// Searchable values, new or changed.
pub(crate) static UPSERT_VALUES: LazyLock<Sql> = LazyLock::new(|| {
    let columns = Columns::of::<value::Entity>();
    let key = [value::Column::InstanceId, value::Column::Name];
    let changed = columns.without(&key).assigned("excluded");
    let tail = format!("ON CONFLICT (instance_id, name) DO UPDATE SET {changed}");
    Sql::insert("searchable_values", columns, &tail)
});

pub(crate) static DELETE_VALUES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::delete("searchable_values", keys(&[("instance_id", Text), ("name", Text)]))
});

/// All searchable values of these instances.
pub(crate) static CLEAR_VALUES: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("searchable_values", keys(&[("instance_id", Text)])));

/// Commands; returns the ids that were free.
pub(crate) static INSERT_PENDING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("pending_resumes", PENDING.clone(), "ON CONFLICT (id) DO NOTHING RETURNING id")
});

/// Commands that wait, new or kept already.
pub(crate) static UPSERT_WAITING: LazyLock<Sql> = LazyLock::new(|| {
    let changed = PENDING.without(&pending::ACCEPTED).assigned("excluded");
    let tail = format!("ON CONFLICT (id) DO UPDATE SET {changed}");
    Sql::insert("pending_resumes", PENDING.clone(), &tail)
});

pub(crate) static DELETE_PENDING: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("pending_resumes", keys(&[("id", Text)])));

pub(crate) static INSERT_OUTBOX: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("outbox", Columns::of::<outbox::Entity>(), "ON CONFLICT (id) DO NOTHING")
});

pub(crate) static DELETE_OUTBOX: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("outbox", keys(&[("id", Text)])));

pub(crate) static INSERT_TOKENS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert("tokens", Columns::of::<token::Entity>(), "ON CONFLICT (hash) DO NOTHING")
});

/// Instances use payloads.
pub(crate) static INSERT_USES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::insert(
        "payload_uses",
        keys(&[("hash", Text), ("instance_id", Text)]),
        "ON CONFLICT (hash, instance_id) DO NOTHING",
    )
});

/// Instances do not use payloads any more.
pub(crate) static DELETE_USES: LazyLock<Sql> =
    LazyLock::new(|| Sql::delete("payload_uses", keys(&[("hash", Text), ("instance_id", Text)])));

/// Payloads are kept for a while from that time on. One that was touched within the hour before stays
/// as it is, so that the bursts of many instances with the same payload do not wait for each other.
pub(crate) static TOUCH_PAYLOADS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("hash", Text), ("at", Number)]),
        "UPDATE payloads SET touched_at = n.at FROM {rows}
         WHERE payloads.hash = n.hash AND payloads.touched_at < n.at - 3600000",
    )
});

/// Uses up tokens that are valid at that time; returns their hashes.
static TAKE_TOKENS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("hash", Text), ("at", Number)]),
        "DELETE FROM tokens WHERE hash IN (
            SELECT t.hash FROM {rows} JOIN tokens AS t ON t.hash = n.hash AND t.expires_at > n.at)
         RETURNING hash",
    )
});

/// Marks events as handed out; returns those that were not handed out before.
static TAKE_EVENTS: LazyLock<Sql> = LazyLock::new(|| {
    let columns = Columns::of::<routed_event::Entity>();
    Sql::insert("routed_events", columns, "ON CONFLICT (id) DO NOTHING RETURNING id")
});

/// Removes waiting commands that have expired; returns their ids.
static TAKE_OVERDUE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("id", Text), ("at", Number)]),
        "DELETE FROM pending_resumes WHERE id IN (
            SELECT p.id FROM {rows} JOIN pending_resumes AS p ON p.id = n.id
            WHERE p.waiting AND p.expires_at <= n.at)
         RETURNING id",
    )
});

/// Advances schedules whose counter is the expected one; returns their ids.
static ADVANCE_SCHEDULES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[
            ("id", Text),
            ("expected", Number),
            ("occurrence", Number),
            ("next_at", Number),
            ("fired_at", Number),
            ("missed", Number),
        ]),
        "UPDATE schedules SET occurrence = n.occurrence, next_at = n.next_at,
         last_at = COALESCE(n.fired_at, schedules.last_at), missed = schedules.missed + n.missed
         FROM {rows}
         WHERE schedules.id = n.id AND schedules.occurrence = n.expected AND NOT schedules.retired
         AND schedules.paused_at IS NULL
         RETURNING schedules.id",
    )
});

/// An item that only one caller can take. Its statement returns the key to that caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// A token is used up.
    Token,
    /// A schedule is advanced.
    Schedule,
    /// An event is handed out.
    Event,
    /// A waiting command has expired.
    Overdue,
}

impl Gate {
    pub(crate) const ALL: [Self; 4] = [Self::Token, Self::Schedule, Self::Event, Self::Overdue];

    pub(crate) fn sql(self) -> &'static Sql {
        match self {
            Self::Token => &TAKE_TOKENS,
            Self::Schedule => &ADVANCE_SCHEDULES,
            Self::Event => &TAKE_EVENTS,
            Self::Overdue => &TAKE_OVERDUE,
        }
    }
}

/// Waiting commands that these bookmarks may answer. Each way to address a command has an index
/// that finds only these commands. [`store::PendingCommand::is_answered_by`] decides which of them
/// are answered.
pub(crate) static SELECT_ANSWERED: LazyLock<Sql> = LazyLock::new(|| {
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
    let names = PENDING.names();
    let aimed = |aim| format!("SELECT {names} FROM pending_resumes WHERE waiting AND {aim}");
    Sql::over(
        keys(&[("id", Text), ("instance_id", Text), ("hash", Text), ("correlation_id", Text)]),
        &format!(
            "WITH new_bookmarks AS (SELECT n.id, n.instance_id, n.hash, n.correlation_id FROM {{rows}})
             {} ORDER BY accepted_at, id LIMIT 10000",
            AIMS.map(aimed).join(" UNION ALL ")
        ),
    )
});

/// The commands that the bursts of a batch settle, each with the instance of its burst.
static SETTLE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::over(
        keys(&[("id", Text), ("instance_id", Text)]),
        "DELETE FROM pending_resumes WHERE id IN (SELECT n.id FROM {rows})",
    )
});

// The parts of a batch of bursts that PostgreSQL writes as one statement.

pub(crate) static BEGUN: Part = Part { name: "begun", sql: &START_INSTANCES, follows: false };
pub(crate) static MOVED: Part = Part { name: "moved", sql: &UPDATE_INSTANCES, follows: false };
pub(crate) static BURNED: Part = Part { name: "burned", sql: &DELETE_BOOKMARKS, follows: true };
pub(crate) static CREATED: Part = Part { name: "created", sql: &INSERT_BOOKMARKS, follows: true };
pub(crate) static NOTED: Part = Part { name: "noted", sql: &INSERT_JOURNAL, follows: true };
pub(crate) static VALUED: Part = Part { name: "valued", sql: &UPSERT_VALUES, follows: true };
pub(crate) static UNVALUED: Part = Part { name: "unvalued", sql: &DELETE_VALUES, follows: true };
pub(crate) static SETTLED: Part = Part { name: "settled", sql: &SETTLE, follows: true };
pub(crate) static TOLD: Part = Part { name: "told", sql: &INSERT_OUTBOX, follows: true };
pub(crate) static PUBLISHED: Part = Part { name: "published", sql: &DELETE_OUTBOX, follows: false };
