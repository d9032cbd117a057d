//! Our own side: `staunch bench` does the same work on a cluster that it starts itself, over HTTP,
//! with PostgreSQL that syncs every commit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::process::run;
use crate::samples::Figure;
use crate::table;
use crate::work::Work;

/// The name of the work in `staunch bench`, its arguments, and the name of the time that is
/// compared.
const PLAN: [(Work, usize, &str, &str, &str); 6] = [
    (Work::One, 256, "start", "http", "start to finished"),
    (Work::One, 1, "start", "http", "start to finished"),
    (Work::Three, 256, "calls", "http", "start to finished"),
    (Work::Three, 1, "calls", "http", "start to finished"),
    (Work::Sleep, 256, "timer", "nats", "due to finished"),
    (Work::Resume, 1, "resume", "http", "event to resumed"),
];

pub(crate) struct Staunch {
    binary: PathBuf,
    lines: Vec<(Work, usize, Vec<Figure>)>,
    memory: Vec<(String, f64)>,
}

impl Staunch {
    /// A binary that is already built.
    pub(crate) async fn find(binary: &Path) -> anyhow::Result<Self> {
        let built = "build it: cargo build --release -p staunch";
        let binary = binary.canonicalize().context(built)?;
        println!("{}", run(Command::new(&binary).arg("--version")).await?);
        run(Command::new(&binary).args(["bench", "--help"])).await?;
        let lines = PLAN.into_iter().map(|(work, lanes, ..)| (work, lanes, Vec::new()));
        Ok(Self { binary, lines: lines.collect(), memory: Vec::new() })
    }

    /// Measures it once.
    pub(crate) async fn turn(&mut self, length: Duration) -> anyhow::Result<()> {
        for ((_, lanes, figures), (.., scenario, over, time)) in self.lines.iter_mut().zip(PLAN) {
            let seconds = if *lanes == 1 { length / 3 } else { length }.as_secs().max(1);
            let mut bench = Command::new(&self.binary);
            bench.args(["bench", scenario, "--over", over, "--database", "postgres"]);
            bench.args(["--output", "json", "--concurrency", &lanes.to_string()]);
            bench.args(["--seconds", &seconds.to_string()]);
            let report: Value = serde_json::from_str(&run(&mut bench).await?)?;
            figures.push(read(&report, time)?);
            for usage in report["usage"].as_array().into_iter().flatten() {
                let (Some(name), Some(most)) = (usage["name"].as_str(), usage["memory"].as_f64())
                else {
                    continue;
                };
                match self.memory.iter_mut().find(|(known, _)| known == name) {
                    Some((_, memory)) => *memory = memory.max(most),
                    None => self.memory.push((name.to_owned(), most)),
                }
            }
        }
        Ok(())
    }

    /// The measurements of this work over all rounds.
    pub(crate) fn figure(&self, work: Work, lanes: usize) -> Option<Figure> {
        let is_it = |line: &&(Work, usize, _)| (line.0, line.1) == (work, lanes);
        self.lines.iter().find(is_it).and_then(|(.., figures)| Figure::mean(figures))
    }

    pub(crate) fn print(&self) {
        table::title("Staunch");
        table::note(
            "durability: accepted, and each call's result, is committed in PostgreSQL (fsync and \
             synchronous_commit on) before the next call and before the answer",
        );
        table::head("");
        for (work, lanes, figures) in &self.lines {
            if let Some(figure) = Figure::mean(figures) {
                table::row(&format!("{work}, {lanes} connections"), &figure, "");
            }
        }
        for (name, most) in &self.memory {
            table::note(&format!("memory of {name}: {most:.0} MiB at most"));
        }
    }
}

fn read(report: &Value, time: &str) -> anyhow::Result<Figure> {
    let times = report["times"].as_array().context("a report has times")?;
    let named = times.iter().find(|it| it["name"] == time);
    let named = named.with_context(|| format!("no time is named {time:?}"))?;
    let number = |value: &Value| value.as_f64().context("a number");
    let failed = report["failed"].as_u64().unwrap_or_default();
    ensure!(report["done"].as_u64().is_some_and(|done| done > 0), "nothing was done");
    Ok(Figure {
        count: usize::try_from(named["count"].as_u64().unwrap_or_default())?,
        per_second: number(&report["throughput"])?,
        p50: number(&named["p50"])?,
        p99: number(&named["p99"])?,
        max: number(&named["max"])?,
        failed,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_read_by_the_name_of_its_time() {
        let time = json!({"name": "b", "count": 5, "p50": 1.5, "p99": 2.5, "max": 3.5});
        let report = json!({"done": 5, "failed": 1, "throughput": 10.0, "times": [time]});
        let figure = read(&report, "b").unwrap();
        assert_eq!((figure.count, figure.failed, figure.p99), (5, 1, 2.5));
        assert!(read(&report, "a").is_err());
    }
}
