//! The listener of crash tests: it is called at every point that a command reaches.

use std::sync::{Arc, OnceLock};

use chassis::Points;

static POINTS: OnceLock<Arc<dyn Points>> = OnceLock::new();

/// Sets the listener for every point that this process reaches. For programs that test crashes,
/// before they call [`crate::main`]; a second call changes nothing.
pub fn listen(points: Arc<dyn Points>) {
    POINTS.get_or_init(|| points);
}

/// The listener, if one is set.
pub(crate) fn points() -> Option<Arc<dyn Points>> {
    POINTS.get().map(Arc::clone)
}
