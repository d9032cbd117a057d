//! The CLI, and every role in one process.
//!
//! Client commands talk to the HTTP API; `server`, `dev` and `demo` host roles; `provision`,
//! `migrate`, `dead` and `key` reach the broker and the database. Standard output carries data,
//! standard error carries talk, and the exit code tells how it went: 0 well, 1 failed, 2 asked
//! wrongly, 3 not found, 4 conflict, 5 unavailable.

mod child;
mod cli;
mod client;
mod command;
mod failure;
mod input;
mod journal;
mod listen;
mod local;
mod output;
mod process;
mod roles;
mod say;

pub use cli::main;
pub(crate) use failure::Failure;
pub use listen::listen;
