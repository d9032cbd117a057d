//! The bounds of one run.

use engine::Bounds;

/// The bounds of one run. The default are those of a test in a file.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    /// Turns.
    pub turns: usize,
    /// Timers that fire.
    pub timers: usize,
    /// Executions of activities.
    pub executions: u64,
    /// Approximate bytes that its turns write.
    pub bytes: usize,
    /// The bounds of one turn.
    pub bounds: Bounds,
    /// Whether the time of the run is up, asked after each turn.
    pub is_late: &'l dyn Fn() -> bool,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            turns: 10_000,
            timers: 1_000,
            executions: u64::MAX,
            bytes: usize::MAX,
            bounds: Bounds::default(),
            is_late: &never,
        }
    }
}

fn never() -> bool {
    false
}
