//! The database port on SQLite and PostgreSQL. The only crate that knows its SQL.
//!
//! Ordinary queries go through SeaORM's entities. Every command's writes (accept, commit, settle)
//! go through one pipeline: jobs that wait at the same time share a transaction and one statement
//! per table, each job with its own version check; see `pipeline`. Instances are loaded in groups,
//! too; see `loads`.
//!
//! To add a column: 1. a migration in `schema/migration`, 2. the table's entity in `entity/`, with
//! its line in the two functions that write and read a row. The statements are derived from the
//! entity.

mod access;
mod answers;
mod bookmarks;
mod cell;
mod census;
mod cluster;
mod codec;
mod columns;
mod connect;
mod damage;
mod database;
mod definitions;
mod entity;
mod failure;
mod identity;
mod inbox;
mod inspect;
mod instances;
mod joined;
mod keys;
mod labels;
mod leftovers;
mod loads;
mod measure;
mod notes;
mod options;
mod outbox;
mod payloads;
mod pipeline;
mod plans;
mod pools;
mod requests;
mod schedules;
mod schema;
mod search;
mod secrets;
mod sessions;
mod shown;
mod slowest;
mod sql;
mod statements;
mod stats;
mod timers;
mod tokens;
mod tx;
mod unreadable;
mod upkeep;
mod url_file;
mod values;
mod writes;

pub use connect::{SqlStore, connect};
pub use damage::damage;
pub use inspect::{Inspection, inspect};
pub use options::Options;
pub use schema::{Planned, PlannedStatement, migrate, pending_migrations, plan};
pub use stats::{Buckets, Stats};
