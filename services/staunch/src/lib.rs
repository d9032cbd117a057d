//! The CLI, and every role in one process.
//!
//! Client commands use the HTTP API; `server`, `dev` and `demo` run roles; `provision`, `migrate`,
//! `dead` and `key` reach the broker and the database. Data goes to standard output, messages for
//! people to standard error. Each kind of failure has its own exit code: see `failure`.

mod child;
mod cli;
mod client;
mod command;
mod database;
mod document;
mod failure;
mod input;
mod interrupt;
mod journal;
mod listen;
mod local;
mod output;
mod process;
mod roles;
mod say;
#[cfg(unix)]
mod systemd;

pub use cli::main;
pub(crate) use failure::Failure;
pub use listen::listen;
