//! The listener that crash tests set: it is told of every point that a command passes.

use std::sync::{Arc, OnceLock};

use chassis::Points;

static POINTS: OnceLock<Arc<dyn Points>> = OnceLock::new();

/// Sets the listener for every point that this process passes. For programs that test crashes,
/// before they call [`crate::main`]; a second call changes nothing.
pub fn listen(points: Arc<dyn Points>) {
    POINTS.get_or_init(|| points);
}

/// The listener, where one is set.
pub(crate) fn points() -> Option<Arc<dyn Points>> {
    POINTS.get().map(Arc::clone)
}
