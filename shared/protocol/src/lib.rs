//! The messages on the wire: commands, outcomes, lifecycle events, subjects and headers.
//!
//! Bodies are JSON (as people publish them) or MessagePack with named fields (as our own services
//! send them); both have the same members. Every subject is spelled here, once. Reading never
//! panics: a message that cannot be read is a [`Garbled`] with a reason that the sender can act on.

mod codec;
mod command;
mod event;
pub mod header;
mod letter;
mod message;
mod outcome;
mod progress;
mod runtime;
pub mod subject;

pub use codec::{Garbled, decode_body, encode_body};
pub use command::{
    Alter, Body, Cancel, Command, EventRaised, Lineage, LostTask, Perform, ReplyWhen, Restart,
    Resume, Sequence, Start, TaskCompleted, instance_of,
};
pub use event::{
    AuditEvent, BurstJournal, CachePosition, Dead, LifecycleEvent, Noticed, TaskCancelled,
    TaskRequest, TimerArmed,
};
pub use letter::Letter;
pub use message::{ContentType, Headers, Message};
pub use outcome::{HttpAnswer, Outcome, Refusal};
pub use progress::TaskProgress;
pub use runtime::{Runtime, Taking};
