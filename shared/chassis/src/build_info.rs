//! The version and commit of this binary.

/// The version of the workspace, such as `0.1.0`.
#[must_use]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The commit, if the variable `STAUNCH_COMMIT` was set for the build.
#[must_use]
pub fn commit() -> Option<&'static str> {
    option_env!("STAUNCH_COMMIT")
}
