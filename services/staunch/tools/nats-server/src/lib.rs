//! Finds, downloads and runs a nats-server: for `staunch dev`, for `staunch demo` and for tests.
//!
//! It searches the path that the caller gives, the PATH and a cache. If none of them has a server
//! that is new enough, it downloads a release and checks its hash. It runs the server as a child
//! that ends with its parent, and never touches a process that it did not start.

mod fetch;
mod find;
mod guard;
mod port;
mod server;
mod version;

pub use find::{Binary, Find, find};
pub use guard::{Guard, signal, suspend};
pub use port::free_port;
pub use server::{Options, Server};
pub use version::{MINIMUM, TESTED, Version};
