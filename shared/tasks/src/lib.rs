//! Background tasks. None of them ends unseen.
//!
//! `tokio::spawn` is banned: a panic in such a task ends it without a trace. Choose by the
//! consequence of the task's end:
//!
//! | the task | use |
//! |---|---|
//! | The process cannot work without it. | `chassis::Life::spawn`: a panic stops the process in order |
//! | It runs for as long as its owner, and can begin anew. | [`supervise`]: runs again after a panic |
//! | It runs once, and its caller can live without its result. | [`spawn`]: the handle carries the panic |
//! | It is a closure that blocks or computes for long. | [`blocking`] |
//! | It belongs to a `JoinSet` or a `TaskTracker`. | [`caught`] around the future; `TaskTracker::track_future` |
//!
//! Every panic is logged, and counted under the task's name: see [`figures`]. A supervised task
//! that waits for its next run is listed by [`down`], so that readiness can say so. A task that tries
//! again after each failure asks [`Trouble`] which of them to log.

mod caught;
mod planted;
mod supervise;
mod table;
mod trouble;

pub use caught::{Panicked, blocking, caught, spawn};
pub use planted::{enter_all, plant};
pub use supervise::{supervise, supervised};
pub use table::{Figure, down, figures};
pub use trouble::Trouble;
