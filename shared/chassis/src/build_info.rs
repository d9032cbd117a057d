//! What this binary was built from.

/// The version of the workspace, such as `0.1.0`.
#[must_use]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The commit, where the build was told it by the variable `STAUNCH_COMMIT`.
#[must_use]
pub fn commit() -> Option<&'static str> {
    option_env!("STAUNCH_COMMIT")
}
