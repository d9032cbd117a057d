//! The nouns of Staunch: ids, time, definitions, instances, bookmarks, journals, and every limit.
//!
//! This crate defines the terms of the system and their form in JSON and MessagePack. It never
//! decides anything, reads no clock, draws no random number and does no I/O.

pub mod activity_type;
mod alteration;
mod backoff;
mod bookmark;
mod calendar;
mod definition;
pub mod depth;
mod edge;
pub mod endpoint;
pub mod file;
mod id;
mod incident;
mod instance;
mod journal;
pub mod json;
pub mod large;
pub mod limits;
pub mod media;
mod misread;
mod payload;
mod retention;
mod retry;
mod route;
mod schedule;
mod script_library;
pub mod sealed;
mod searchable;
mod source;
pub mod span;
mod stimulus;
mod task;
mod time;
pub mod whole;
pub mod xml;

pub use activity_type::ActivityType;
pub use alteration::Alteration;
pub use backoff::Backoff;
pub use bookmark::{Bookmark, Token, TokenTarget};
pub use calendar::{Calendar, InvalidCalendar};
pub use definition::{Argument, Definition, Options, Variable};
pub use edge::{Chance, Clock};
pub use id::{
    ActivityId, BookmarkId, CommandId, DefinitionId, InstanceId, InvalidId, ScheduleId, VersionId,
    derived,
};
pub use incident::Incident;
pub use instance::{Instance, Parent, Status, SubStatus};
pub use journal::{Changed, Entry, Recorded, What, execution_id, instance_of};
pub use json::Map;
pub use large::Large;
pub use misread::Misread;
pub use payload::{InvalidPayloadHash, PayloadHash, PayloadHasher};
pub use retention::{After, RETENTION, Retention};
pub use retry::{Growth, On, Retries, Retry};
pub use route::route_shape;
pub use schedule::{Misfire, Recurrence, Schedule};
pub use script_library::ScriptLibrary;
pub use searchable::{SearchKey, Searchable};
pub use source::{Content, MessageSource, Script};
pub use stimulus::{Stimulus, Trigger};
pub use task::{TaskReport, TaskStatus, check_error};
pub use time::{InvalidTimestamp, Timestamp};
