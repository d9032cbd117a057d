//! The pure engine: turns (definition, state, input, now) into (state, effects, journal).
//!
//! A definition compiles once to a [`Program`]; [`Engine::turn`] moves one instance of it forward
//! until it is over, waits, or has used up the budget of one turn. It knows no clock, no
//! randomness, no network and no storage: time and random bits come in with [`Env`]; actions
//! outside the instance go out as an [`Effect`], or as intent in the [`State`]. Ids derive from the
//! instance, the turn and a sequence, so the same arguments give the same turn, bit for bit.
//!
//! A failure inside a workflow is an incident in the state, never an `Err`. A failed `assert` with one
//! of these names is a bug of the engine or of an activity:
//!
//! - **INV-1** a program has a root;
//! - **INV-2** every node that a state names is in its program: versions are immutable;
//! - **INV-3** every bookmark has the execution that waits at it;
//! - **INV-4** an instance that is not over waits for something, or has work left;
//! - **INV-5** an instance that is over holds nothing;
//! - **INV-6** out of budget means that work is left;
//! - **INV-7** finished means a final status;
//! - **INV-8** every call has its bookmark;
//! - **INV-9** no execution outlives its owner.
//!
//! To add an activity type, see the crate `activities`; to add an expression language, see
//! `expressions`.

mod activity;
mod alter;
mod call;
mod chart;
mod compile;
mod composite;
mod contents;
mod convert;
mod decision;
mod descriptor;
mod draft;
mod effect;
mod engine;
mod env;
mod evaluate;
mod flow_mode;
mod hidden;
mod input;
mod invariant;
mod journal;
mod keeping;
mod languages;
mod large;
mod library;
mod lone;
mod mapping;
mod migrate;
mod misshapen;
mod moving;
mod naming;
mod near;
mod outline;
pub mod outside;
mod performed;
mod pinned;
mod place;
mod placeholder;
mod problem;
mod program;
mod property;
mod reach;
mod recorder;
mod registry;
mod restart;
mod run;
mod schema;
mod searchable;
mod sites;
mod spelling;
mod state;
mod step;
mod surroundings;
mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod turn;
mod types;
mod vault;
mod view;

pub use activity::Activity;
pub use call::{
    Attachment, Call, FileAccess, Mail, NatsCall, Operation, Outgoing, Request, SecretParts,
    Statement, Tries, Wanted,
};
pub use chart::{Charted, ChartedVariable, WORKFLOW_ID, WORKFLOW_TYPE, pascal};
pub use compile::{Part, Planning, UNTYPED, near_language, near_members, short_language};
pub use contents::Contents;
pub use decision::{Cause, Child, Decision, Failure, Next, Resumed};
pub use descriptor::{Descriptor, InputDescriptor, Kind, OutputDescriptor, Port, PortKind};
pub use effect::{Dispatch, Effect, LogLevel, LogLine, Publish, Response};
pub use engine::{Engine, Examined, Named, Triggers};
pub use env::{Env, Installation};
pub use evaluate::{Asked, Flaw, Identity, Language, Mentions, Scope, Surroundings, UrlOf};
pub use flow_mode::FlowMode;
pub use input::{Alter, Input, Restart, Resume, Start};
pub use keeping::{in_full, is_credential};
pub use languages::Languages;
pub use library::{Library, Reference};
pub use moving::Moving;
pub use naming::{
    DEFINITION_MEMBERS, OPTION_MEMBERS, Twice, known_name, name_members, rename_members,
};
pub use outline::{Activation, Expression, NodeRef, Outcomes, Plan};
pub use pinned::Pin;
pub use problem::{Problem, Severity};
pub use program::Program;
pub use registry::Registry;
pub use schema::activity_type;
pub use sites::{Site, Sites};
pub use spelling::{ARGUMENT_MEMBERS, VARIABLE_MEMBERS};
pub use state::State;
pub use step::{ChildExecution, Step};
pub use task::{Fence, OpenTask, Task, TaskCancel};
pub use turn::{Bounds, Rest, Turn};
pub use types::{Form, Type};
pub use vault::{Secrets, Vault, foreign, is_sealed, may_be_sealed, without};
pub use view::{bookmark, exception, incident, workflow_status};
