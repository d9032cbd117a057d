//! Fails the build on untidiness: what no compiler and no linter says, and what a reader would.
//!
//! Each rule is one test in `rules.rs`. Exceptions stand in `exceptions.toml`, each with its
//! reason; who may import whom stands in `deps.toml`. Licences, sources and bans stand in `deny.toml`
//! at the root, and are checked in `dependencies.rs`.

#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod source;
#[cfg(test)]
mod tree;
