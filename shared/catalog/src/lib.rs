//! Which version of a definition is published, and its compiled program.
//!
//! Versions are immutable, so programs are cached by version id and never go stale. Only the
//! pointer "published version of X" changes: it comes from the pointers bucket where the watch is
//! complete, and from the database where it is not.

mod cache;

pub use cache::{Catalog, Error};
