//! Fails the build on untidiness: what no compiler and no linter says, and what a reader would.
//!
//! Each rule is one test in `rules.rs`. Exceptions stand in `exceptions.toml`, each with its
//! reason; who may import whom stands in `deps.toml`.

#[cfg(test)]
mod rules;
#[cfg(test)]
mod tree;
