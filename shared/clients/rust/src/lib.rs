//! Workers and clients of Staunch, durable workflows on NATS.
//!
//! A [`Worker`] has handlers of tasks; a [`Client`] starts, resumes, signals, asks and follows
//! instances. Both use the connection that they are given, and nothing of Staunch but its messages.

mod client;
mod error;
mod input;
mod progress;
mod report;
mod task;
mod wire;
mod worker;

pub use client::{Client, Event, Instance, Outcome, Signal, Start, Watch};
pub use error::Error;
pub use progress::ProgressChannel;
pub use task::{Failure, Handover, Task};
pub use wire::token;
pub use worker::Worker;
