//! One file per command of the CLI.

pub(crate) mod apply;
pub(crate) mod dead;
pub(crate) mod instance;
pub(crate) mod run;
