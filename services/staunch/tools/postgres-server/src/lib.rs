//! Finds and runs a PostgreSQL: for `staunch validate`, `staunch bench` and tests.
//!
//! It looks for the programs on the PATH and where Debian puts them, and runs a server of its own
//! on a free port of 127.0.0.1, in a directory of its own, as a child that dies with its parent.
//! It fetches nothing and never touches a server that it did not start.

mod find;
mod server;

pub use find::{Programs, find};
pub use server::{Options, Server};
