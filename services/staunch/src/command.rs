//! One file per command of the CLI.

pub(crate) mod apply;
pub(crate) mod bench;
pub(crate) mod config;
pub(crate) mod dead;
pub(crate) mod demo;
pub(crate) mod dev;
pub(crate) mod instance;
pub(crate) mod key;
pub(crate) mod migrate;
pub(crate) mod provision;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod validate;
