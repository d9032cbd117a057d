//! The peers. This program starts each and ends it before the next one starts.

pub(crate) mod dbos;
pub(crate) mod restate;

use std::time::Duration;

use crate::process::memory;
use crate::samples::{Figure, Samples};
use crate::table;
use crate::work::{Doors, PLAN, Work, measure, warm};

/// The measurements of one side over all rounds.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) name: &'static str,
    pub(crate) durability: &'static str,
    pub(crate) lines: Vec<(Work, usize, Samples)>,
    /// The most memory in MiB, by part.
    pub(crate) memory: Vec<(&'static str, f64)>,
}

impl Sheet {
    pub(crate) fn new(name: &'static str, durability: &'static str) -> Self {
        let line = |(work, lanes)| (work, lanes, Samples::default());
        Self { name, durability, lines: PLAN.into_iter().map(line).collect(), memory: Vec::new() }
    }

    /// Measures a running side once.
    pub(crate) async fn turn<D: Doors>(
        &mut self,
        doors: &D,
        parts: &[(&'static str, u32)],
        length: Duration,
    ) -> anyhow::Result<()> {
        warm(doors).await?;
        for (work, lanes, samples) in &mut self.lines {
            // Latencies need fewer requests than rates do.
            let length = if *lanes == 1 { length / 3 } else { length };
            samples.then(measure(doors, *work, *lanes, length).await?);
            for (part, pid) in parts {
                let now = memory(*pid);
                match self.memory.iter_mut().find(|(known, _)| known == part) {
                    Some((_, most)) => *most = most.max(now),
                    None => self.memory.push((part, now)),
                }
            }
        }
        Ok(())
    }

    pub(crate) fn print(&self) {
        table::title(self.name);
        table::note(self.durability);
        table::head("");
        for (work, lanes, samples) in &self.lines {
            table::row(&format!("{work}, {lanes} connections"), &samples.figure(), "");
        }
        for (part, most) in &self.memory {
            table::note(&format!("memory of {part}: {most:.0} MiB at most"));
        }
    }

    /// The speed of the other side as a multiple of this one: by rate, and by the median with one
    /// connection.
    pub(crate) fn ratios(&self, other: impl Fn(Work, usize) -> Option<Figure>) {
        table::title(&format!("Staunch against {}: times as fast", self.name));
        for (work, lanes, samples) in &self.lines {
            let Some(ours) = other(*work, *lanes) else { continue };
            let theirs = samples.figure();
            let by_median = theirs.p50 / ours.p50.max(1e-3);
            let is_rate = *lanes > 1 && *work != Work::Sleep;
            let ratio = if is_rate { ours.per_second / theirs.per_second } else { by_median };
            let what = if is_rate { "rate" } else { "median time" };
            let text = format!("{work}, {lanes} connections, by {what}: {ratio:.1}");
            table::note(&text);
        }
    }
}
