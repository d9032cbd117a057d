//! Who is told where the commands of this process are: nobody, except in crash tests.

use std::sync::{Arc, OnceLock};

use chassis::Points;

static POINTS: OnceLock<Arc<dyn Points>> = OnceLock::new();

/// Has `points` told of every step that this process takes; for programs that test crashes, before
/// they call [`crate::main`]. The first listener stays.
pub fn listen(points: Arc<dyn Points>) {
    POINTS.get_or_init(|| points);
}

/// Whoever listens.
pub(crate) fn points() -> Option<Arc<dyn Points>> {
    POINTS.get().map(Arc::clone)
}
