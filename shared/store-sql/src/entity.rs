//! The tables, one entity each: the only declaration of their columns beside the migrations, with
//! the functions that convert between rows and values.
#![expect(unreachable_pub, reason = "what SeaORM's macros generate around them is public")]

pub(crate) mod alteration_job;
pub(crate) mod alteration_plan;
pub(crate) mod api_key;
pub(crate) mod application;
pub(crate) mod audit;
pub(crate) mod bookmark;
pub(crate) mod cluster;
pub(crate) mod definition;
pub(crate) mod definition_label;
pub(crate) mod instance;
pub(crate) mod journal;
pub(crate) mod label;
pub(crate) mod login_attempt;
pub(crate) mod outbox;
pub(crate) mod pending;
pub(crate) mod request;
pub(crate) mod role;
pub(crate) mod routed_event;
pub(crate) mod schedule;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod signing_key;
pub(crate) mod token;
pub(crate) mod trigger;
pub(crate) mod user;
pub(crate) mod value;
