//! The archive: instances that left the database, as compressed JSON lines in a folder or an
//! S3-compatible store.
//!
//! One file holds the instances of one batch, one instance a line, in the form that
//! `staunch instance import` reads. Beside it lies its manifest, which is written last: a file
//! without a manifest is not complete. Whoever writes may remove the instances from the database
//! once [`Archive::write`] has returned, not before. After a crash in between, the same instances are
//! written once more, so the same id may be there several times: the copy with the highest version
//! counts.
//!
//! The state of an instance is written as the database has it: what has seen a secret is sealed, and
//! stays sealed.

mod error;
mod file;
mod line;
mod manifest;

pub use error::Error;
pub use file::Archive;
pub use line::Line;
pub use manifest::{Entry, Manifest};
