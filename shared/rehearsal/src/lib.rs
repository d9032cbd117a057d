//! Runs of a definition in memory, to try it out. The engine runs it as it does on a server; calls,
//! tasks and child workflows are answered as the run says, events come when something waits for them,
//! time is skipped, and an activity with a pinned result does nothing and has that result.
//!
//! [`Suite`] reads the tests of a file, and [`Test::run`] finds what differs from what a test expects.
//! [`Run`] is one run without expectations, [`Player`] plays it, and [`records()`] says what each
//! activity did. [`as_case`] and [`Run::observed`] make a test of a run, and [`of_definition`] finds the tests
//! that a definition has with it. [`Limits`] hold a run back.
//!
//! Pure: it reads no file, knows no clock, and nothing that a run asks for leaves it.
//! `docs/testing.md` describes the form of tests for their users.

mod case;
mod check;
mod coverage;
mod difference;
mod form;
mod happen;
mod limits;
mod mock;
mod pin;
mod play;
mod reader;
mod record;
mod secret;
mod stop;
mod suite;
mod verdict;

pub use case::{TESTS_MEMBER, as_case, of_definition};
pub use coverage::{Coverage, as_json};
pub use difference::difference;
pub use form::schema;
pub use limits::Limits;
pub use mock::Mocks;
pub use play::{Made, Player, Stage};
pub use record::{Record, records};
pub use stop::{Reason, Stop};
pub use suite::{BEGIN, Given, Happening, Run, Step, Suite, Test};
pub use verdict::Verdict;

#[cfg(test)]
mod tests;
