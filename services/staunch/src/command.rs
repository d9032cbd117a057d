//! One file per command of the CLI.

pub(crate) mod app;
pub(crate) mod apply;
pub(crate) mod archive;
pub(crate) mod bench;
pub(crate) mod config;
pub(crate) mod dead;
pub(crate) mod decode;
pub(crate) mod demo;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod incident;
pub(crate) mod instance;
pub(crate) mod key;
pub(crate) mod label;
pub(crate) mod lease;
pub(crate) mod listener;
pub(crate) mod log_level;
pub(crate) mod migrate;
pub(crate) mod nats_permissions;
pub(crate) mod payload;
pub(crate) mod provision;
pub(crate) mod retention;
pub(crate) mod role;
pub(crate) mod run;
pub(crate) mod runtime;
pub(crate) mod schedule;
pub(crate) mod secret;
pub(crate) mod server;
pub(crate) mod signing_key;
pub(crate) mod statement;
pub(crate) mod support_bundle;
pub(crate) mod task;
pub(crate) mod test;
pub(crate) mod top;
pub(crate) mod user;
pub(crate) mod validate;
pub(crate) mod why;
pub(crate) mod worker;
pub(crate) mod workflow;

use chassis::{Chance as _, SystemChance};

/// The settings of the connection to NATS, for the help of commands that show few settings.
const NATS_SETTINGS: [&str; 7] = [
    "nats-url",
    "nats-creds",
    "nats-nkey",
    "nats-ca",
    "nats-tls-cert",
    "nats-tls-key",
    "nats-wait",
];

/// The beginning of all names that one run of a command creates in a cluster. It never repeats: the
/// first digits of an id are its time, and two runs may begin together.
fn run_name(what: &str) -> String {
    let id = SystemChance.new_id();
    format!("{what}-{}", id.get(24..).unwrap_or(&id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_share_a_name() {
        let names: std::collections::BTreeSet<_> = (0..1_000).map(|_| run_name("bench")).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() == "bench-".len() + 8), "{names:?}");
    }
}
