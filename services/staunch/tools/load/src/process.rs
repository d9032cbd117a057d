//! CPU time and memory of a process, from `/proc`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

/// Clock ticks of `/proc` per second, on every current Linux.
const TICKS: u64 = 100;

/// A process to watch.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name, such as `nats-server`.
    pub name: String,
    /// Its id.
    pub pid: u32,
    /// True when its children do the work, as those of PostgreSQL do.
    pub has_children: bool,
}

/// The resources that a process used while it was watched.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Its name.
    pub name: String,
    /// Processor time, in seconds.
    pub cpu: f64,
    /// Memory at the end, in MiB; of shared memory, its share.
    pub memory: f64,
}

impl Process {
    /// This process.
    #[must_use]
    pub fn this() -> Self {
        Self { name: "load".to_owned(), pid: std::process::id(), has_children: false }
    }

    /// Its processor time so far; None if the system does not report it.
    pub(crate) fn cpu(&self) -> Duration {
        let ticks: u64 = self.ids().into_iter().filter_map(ticks).sum();
        Duration::from_millis(ticks * 1_000 / TICKS)
    }

    /// The resources that it has used since its processor time was `before`.
    pub(crate) fn usage(&self, before: Duration) -> Usage {
        let kib: u64 = self.ids().into_iter().filter_map(kib).sum();
        Usage {
            name: self.name.clone(),
            cpu: self.cpu().saturating_sub(before).as_secs_f64(),
            memory: Duration::from_secs(kib).as_secs_f64() / 1_024.0,
        }
    }

    fn ids(&self) -> Vec<u32> {
        let mut ids = vec![self.pid];
        if self.has_children {
            ids.extend(parents().into_iter().filter(|(_, it)| *it == self.pid).map(|(id, _)| id));
        }
        ids
    }
}

/// Every process with its parent.
fn parents() -> BTreeMap<u32, u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id: u32| Some((id, stat(id)?.get(1)?.parse().ok()?))).collect()
}

/// `/proc/<id>/stat` from the state on. The name before it may contain any character.
fn stat(id: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// User and system time, with that of children that have ended.
fn ticks(id: u32) -> Option<u64> {
    let fields = stat(id)?;
    (11..=14).map(|index| fields.get(index)?.parse::<u64>().ok()).sum()
}

fn kib(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_is_seen() {
        let this = Process::this();
        let before = this.cpu();
        let mut number = 1_u64;
        while this.cpu() - before < Duration::from_millis(50) {
            number = number.wrapping_mul(3).rotate_left(7);
        }
        let usage = this.usage(before);
        assert!(number != 0 && usage.cpu >= 0.05 && usage.memory > 1.0, "{usage:?}");
    }
}
