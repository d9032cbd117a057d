//! Fails the build on untidiness that no compiler and no linter reports, but a reader would.
//!
//! Each rule is one test in `rules.rs`; `claims.rs` has those of documents, `audit.rs`
//! that of the audit log. `exceptions.toml` has the exceptions, each with its reason; `deps.toml` has
//! the allowed imports between crates. Licences, sources and bans are in `deny.toml` at the root, and
//! are checked in `dependencies.rs`.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod source;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod tree;
