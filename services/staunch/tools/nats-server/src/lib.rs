//! Finds, fetches and runs a nats-server: for `staunch dev`, for `staunch demo` and for tests.
//!
//! It looks where the caller says, on the PATH and in a cache, and downloads a release whose hash
//! is known where none of these has one that is new enough. It runs a server as a child that dies
//! with its parent, and never touches a process that it did not start.

mod fetch;
mod find;
mod guard;
mod port;
mod server;
mod version;

pub use find::{Binary, Find, find};
pub use guard::{Guard, signal};
pub use port::free_port;
pub use server::{Options, Server};
pub use version::{MINIMUM, TESTED, Version};
