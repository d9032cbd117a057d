//! The client of the HTTP API: one request in, JSON or a [`Failure`] out.

mod client;
mod failure;
mod reading;
mod text;

pub use client::{Client, Response, findings, problem, problems, segment};
pub use failure::{Failure, Kind};
pub use reading::{Histogram, Reading};
pub use text::{is_control, one_line, text};
