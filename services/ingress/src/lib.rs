//! Ingress: the HTTP gateway. Request in, authenticate, validate, identify, accept, publish, reply.
//!
//! It owns the REST API, the endpoints of workflows and links with tokens, and keeps nothing: what
//! it accepts is in the database before it answers. It compiles definitions to validate and index
//! them, and never runs a turn; of instances it only ever accepts new ones.

mod app;
mod auth;
mod backlog;
mod begin;
mod body;
mod config;
mod endpoint;
mod finish;
mod idempotency;
mod load;
mod metrics;
mod present;
mod problem;
mod publication;
mod record;
mod respond;
mod router;
mod routes;
mod schedule;
mod serve;
mod submit;
#[cfg(test)]
mod tests;
mod trace;
mod waiters;

pub use app::Context;
pub use config::{Auth, Config, Invalid};
pub use serve::{Error, run, start};

use app::App;
use problem::Problem;
