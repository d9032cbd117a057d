//! Carries out the calls that activities ask for.
//!
//! `calls` is the port: one call in, one end out. [`Connectors`] is the real thing, with one file
//! for each kind of work; `memory` is the twin. To add a kind: 1. a variant of `engine::Operation`
//! with its documented result; 2. a file here that does the work within the bounds of
//! `model::limits`; 3. an arm in `Connectors`; 4. a test against a real server.
//!
//! A call is made after its intent is committed, and again after a crash, always with the same key.

mod calls;
mod connectors;
mod depot;
mod file;
mod files_left;
mod guard;
mod http;
mod mail;
mod memory;
mod nats;
mod sql;
mod unfit;

pub use calls::{CallEnd, Calls, ErrorKind};
pub use connectors::{Config, Connectors};
pub use mail::MailConfig;
pub use memory::MemoryCalls;
pub use nats::{message_value, why_no_json};
pub use unfit::Unfit;
