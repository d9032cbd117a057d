//! The message port: queues, key-value buckets and plain messages, as traits with a memory twin,
//! and what Staunch builds on them: leases, claims, presence and published pointers.
//!
//! Adapters implement only [`Queue`], [`Tasks`], [`Kv`] and [`Wire`] (together: [`Bus`]); everything else
//! here is written once, over the traits, and runs the same on NATS and in a simulation.
//! Nothing in this crate knows what a workflow is.

mod claim;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod figures;
mod follow;
mod home;
mod kv;
mod lease;
mod lock;
mod memory;
mod outside;
mod pause;
mod pointer;
mod pools;
mod port;
mod presence;
mod queue;
mod rendezvous;
mod retry;
mod shares;
mod tasks;
mod wire;
mod workers;

pub use claim::{Claim, Claimed, Claims};
pub use error::Error;
pub use figures::{ConsumerFigures, Figures, StreamFigures};
pub use home::{Home, NoHome, Stranger, home_of};
pub use kv::{Bucket, Change, Entry, Kv, Put, Revision, TOMBSTONE_TTL, Watch};
pub use lease::{Busy, Holding, Lease, Leases, Terms, look, look_at_all, take_away};
pub use memory::{Fault, Faults, LateAcks, MemoryBus, Operation, ServerClock};
pub use outside::{
    Content, From, KeyValue, Object, Outside, OutsideError, Place, PlaceFigures, Stored, Taken,
};
pub use pause::{Drain, Pause, Pauses, Scope};
pub use pointer::{Pointer, Pointers};
pub use pools::Pools;
pub use port::{Bus, Nonces};
pub use presence::{Member, Presence, Standing, members};
pub use queue::{Delivery, Fill, Pool, Queue, Receipt, SELECT_BYTES_MAX, Settle, Span, Stream};
pub use rendezvous::owner_of;
pub use shares::Passed;
pub use tasks::{Handed, TaskAnswer, Tasks};
pub use wire::{Attempt, Endpoint, Incoming, Subscription, Wire};
pub use workers::{Takes, Worker, workers};
