//! Finds and runs a PostgreSQL: for `staunch validate`, `staunch bench` and tests.
//!
//! It searches for the programs on the PATH and in Debian's folder, and runs a separate server on a
//! free port of 127.0.0.1, in a temporary directory, as a child that ends with its parent. It
//! downloads nothing and never touches a server that it did not start.

mod find;
mod server;

pub use find::{Programs, find};
pub use server::{Copy, Options, Server};
