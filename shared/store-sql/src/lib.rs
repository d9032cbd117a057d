//! The database port on SQLite and PostgreSQL. The only crate that knows SQL.
//!
//! Ordinary queries go through SeaORM's entities. What every command does (accept, commit, settle)
//! goes through one pipeline, in which whatever waits at the same moment shares a transaction and
//! one statement per table, each with its own version check: see `pipeline`. What a burst begins with is read in the same
//! way: see `loads`.
//!
//! To add a column: 1. a migration in `schema/migration`, 2. the entity in `entity/`, 3. the row in
//! `row.rs` and its statement in `statements.rs` where the table is on the path of every command.

mod bookmarks;
mod connect;
mod definitions;
mod entity;
mod failure;
mod inbox;
mod instances;
mod keys;
mod loads;
mod options;
mod outbox;
mod pipeline;
mod row;
mod schema;
mod sql;
mod statements;
mod stats;
mod timers;
mod tokens;

pub use connect::{SqlStore, connect};
pub use options::Options;
pub use schema::{migrate, pending_migrations};
pub use stats::{Buckets, Stats};
