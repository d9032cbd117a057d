//! The database schema: one file per migration, each additive.
//!
//! The statements of a migration that has shipped never change. No migration removes a column or
//! table that an older program still reads: expand first, contract some releases later. SQLite and
//! PostgreSQL run the same statements.
//!
//! A migration that takes away what an older program reads ends with [`CONTRACT`]: programs that do
//! not know it stay out of the database.
//!
//! Times are milliseconds since 1970 in UTC. Texts sort by their bytes on both databases. Values
//! that no query searches share one document column: JSON if people read it, MessagePack on the
//! path of every command.
//!
//! To add one: 1. `m0019_what.rs` with its statements, 2. a line in [`Migrator::migrations`]. For a
//! column, also change the table's entity in `shared/store-sql/src/entity`.

mod ddl;
mod m0001_definitions;
mod m0002_schedules;
mod m0003_instances;
mod m0004_bookmarks;
mod m0005_pending_resumes;
mod m0006_journal;
mod m0007_outbox;
mod m0008_tokens;
mod m0009_api_keys;
mod m0010_audit;
mod m0011_routed_events;
mod m0012_aims;
mod m0013_requests;
mod m0014_deleted_versions;
mod m0015_alterations;
mod m0016_identity;
mod m0017_secrets;
mod m0018_searchable_values;
mod m0019_cluster;
mod m0020_upkeep;
mod m0021_schedule_pauses;
mod m0022_incidents;
mod m0023_payloads;
mod m0024_listed_bookmarks;
mod m0025_payload_places;
mod m0026_labels;
mod m0027_keys_of_users;
mod m0028_audit_outcomes;

pub use sea_orm_migration::MigratorTrait;
use sea_orm_migration::sea_orm::DatabaseBackend;
use sea_orm_migration::{MigrationTrait, async_trait};

use ddl::Migration;

/// The end of the name of a migration that takes away what an older program reads.
pub const CONTRACT: &str = "_contract";

/// Brings a database to the schema of this program.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let boxed = |(name, statements)| Box::new(Migration { name, statements }) as Box<_>;
        all().into_iter().map(boxed).collect()
    }
}

/// A migration and its statements as a database runs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the migration.
    pub name: &'static str,
    /// Its statements, in order.
    pub statements: Vec<String>,
}

/// Every migration with its statements, in order.
#[must_use]
pub fn steps(backend: DatabaseBackend) -> Vec<Step> {
    let step = |(name, statements)| Step { name, statements: ddl::written(statements, backend) };
    all().into_iter().map(step).collect()
}

fn all() -> Vec<(&'static str, &'static [&'static str])> {
    vec![
        ("m0001_definitions", m0001_definitions::STATEMENTS),
        ("m0002_schedules", m0002_schedules::STATEMENTS),
        ("m0003_instances", m0003_instances::STATEMENTS),
        ("m0004_bookmarks", m0004_bookmarks::STATEMENTS),
        ("m0005_pending_resumes", m0005_pending_resumes::STATEMENTS),
        ("m0006_journal", m0006_journal::STATEMENTS),
        ("m0007_outbox", m0007_outbox::STATEMENTS),
        ("m0008_tokens", m0008_tokens::STATEMENTS),
        ("m0009_api_keys", m0009_api_keys::STATEMENTS),
        ("m0010_audit", m0010_audit::STATEMENTS),
        ("m0011_routed_events", m0011_routed_events::STATEMENTS),
        ("m0012_aims", m0012_aims::STATEMENTS),
        ("m0013_requests", m0013_requests::STATEMENTS),
        ("m0014_deleted_versions", m0014_deleted_versions::STATEMENTS),
        ("m0015_alterations", m0015_alterations::STATEMENTS),
        ("m0016_identity", m0016_identity::STATEMENTS),
        ("m0017_secrets", m0017_secrets::STATEMENTS),
        ("m0018_searchable_values", m0018_searchable_values::STATEMENTS),
        ("m0019_cluster", m0019_cluster::STATEMENTS),
        ("m0020_upkeep", m0020_upkeep::STATEMENTS),
        ("m0021_schedule_pauses", m0021_schedule_pauses::STATEMENTS),
        ("m0022_incidents", m0022_incidents::STATEMENTS),
        ("m0023_payloads", m0023_payloads::STATEMENTS),
        ("m0024_listed_bookmarks", m0024_listed_bookmarks::STATEMENTS),
        ("m0025_payload_places", m0025_payload_places::STATEMENTS),
        ("m0026_labels", m0026_labels::STATEMENTS),
        ("m0027_keys_of_users", m0027_keys_of_users::STATEMENTS),
        ("m0028_audit_outcomes", m0028_audit_outcomes::STATEMENTS),
    ]
}
