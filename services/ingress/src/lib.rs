//! Ingress: the HTTP gateway. [`pipeline`] is the path of a request, in order.
//!
//! Ingress owns the REST API, the endpoints of workflows, and links with tokens. It keeps nothing
//! itself: accepted requests are in the database before it answers. It compiles definitions to
//! validate and index them, and runs turns in test runs alone, of which nothing is stored or sent. It
//! accepts new instances, and changes none.

mod app;
mod archive;
mod audit;
mod auth;
mod backing;
mod backlog;
mod below;
mod body;
mod bounds;
mod cause;
mod config;
mod context;
mod demo;
mod description;
mod edit_locks;
mod endpoint;
mod executions;
mod executors;
mod expiry;
mod finish;
mod forwarded;
mod gateway;
mod head;
mod history;
mod idempotency;
mod identity;
mod large;
mod lease;
mod live;
mod load;
mod metrics;
mod note;
mod oidc;
mod operate;
mod over_nats;
mod paging;
mod pipeline;
mod plans;
mod present;
mod problem;
mod publication;
mod rate;
mod record;
mod respond;
mod router;
mod routes;
mod runtime;
mod schedule;
mod serve;
mod shield;
mod states;
mod streams;
mod test_run;
#[cfg(test)]
mod tests;
mod told;
mod trace;
mod validating;
mod waiters;
mod wake;
mod why;
mod workers;

pub use auth::permission::{check_permission, permissions};
pub use chassis::Auth;
pub use config::{Config, Invalid};
pub use context::Context;
pub use demo::{Demo, DemoExecutor, Stand, Standing, Wish};
pub use gateway::Gateway;
pub use identity::{IdentityConfig, password, secret};
pub use oidc::{Algorithm, OidcConfig};
pub use serve::{Error, run, start};

use app::App;
use problem::Problem;
