//! The answers that handlers write as JSON, as types: only their schemas are used. The tests hold
//! every answer that they get against these schemas, which have all members.
//!
//! An `Option` is a member that may be null or absent.

#![expect(dead_code, reason = "the types are there for their schemas")]

pub(crate) mod alteration;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod definition;
pub(crate) mod demo;
pub(crate) mod descriptor;
pub(crate) mod incident;
pub(crate) mod instance;
pub(crate) mod journal;
pub(crate) mod operation;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod test;

use utoipa::ToSchema;

/// All items of a list.
#[derive(ToSchema)]
pub(crate) struct Items<T> {
    items: Vec<T>,
    /// The number of items.
    count: u64,
}

/// Files in a form: `.json` files, `.yaml` files where the operation takes the short form, and `.zip` files of
/// them. The names of the parts do not matter.
#[derive(ToSchema)]
pub(crate) struct FilesForm {
    files: Vec<String>,
}

/// A number of things.
#[derive(ToSchema)]
pub(crate) struct Count {
    count: u64,
}
