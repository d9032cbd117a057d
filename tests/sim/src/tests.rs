//! The seeds: with faults, without faults, one seed twice, and with planted bugs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use chassis::Point;
use engine::Engine;

use crate::nemesis::Passed;
use crate::planted::Planted;
use crate::run::{Options, Report, run};

/// The number of seeds without `SIM_SEEDS`.
const SEEDS: u64 = 200;
/// The number of seeds within which nodes have crashed at every point.
const SEEDS_TO_COVER: u64 = 2_000;
/// The search ends after this number of failures.
const FAILED_MAX: usize = 8;
/// The number of seeds within which each planted bug is found.
const SEEDS_PER_BUG: u64 = 200;

fn engine(planted: Option<Planted>) -> &'static Arc<Engine> {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    static UNCHECKED: OnceLock<Arc<Engine>> = OnceLock::new();
    let new = || Engine::new(activities::all(), expressions::all());
    match planted {
        Some(Planted::MigrationUnchecked) => {
            UNCHECKED.get_or_init(|| Arc::new(new().with_unchecked_migrations()))
        }
        _ => ENGINE.get_or_init(|| Arc::new(new())),
    }
}

fn live(seed: u64, planted: Option<Planted>, keeps_lines: bool) -> Report {
    run(engine(planted), &Options { seed, planted, calm: false, keeps_lines })
}

#[expect(clippy::disallowed_methods, reason = "how long to search is for whoever runs the test")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The complaints about a world, and the way to replay it.
fn verdict(seed: u64, report: &Report) -> Result<(), String> {
    if report.complaints.is_empty() {
        return Ok(());
    }
    for line in &report.lines {
        println!("{line}");
    }
    Err(format!(
        "seed {seed}, after {} steps and {} crashes:\n  {}\nreplay it with\n  \
         SIM_SEED={seed} cargo test -p sim every_seed -- --nocapture",
        report.trace.1,
        report.crashes,
        report.complaints.join("\n  ")
    ))
}

#[track_caller]
fn check(seed: u64, report: &Report) {
    if let Err(verdict) = verdict(seed, report) {
        panic!("{verdict}");
    }
}

/// Distributes seeds or other numbers over all cores.
fn search(numbers: std::ops::Range<u64>, visit: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(numbers.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    visit(number);
                }
            });
        }
    });
}

#[test]
fn every_seed_ends_well() {
    if let Some(seed) = variable("SIM_SEED") {
        check(seed, &live(seed, None, true));
        return;
    }
    let count = variable("SIM_SEEDS").unwrap_or(SEEDS);
    let first = variable("SIM_FIRST").unwrap_or(1);
    let began = Instant::now();
    let passed: Mutex<BTreeMap<Point, Passed>> = Mutex::default();
    let (steps, crashes) = (AtomicU64::new(0), AtomicU64::new(0));
    let (made_anew, again, earlier) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let failed = Mutex::new(Vec::new());
    search(first..first + count, |seed| {
        if failed.lock().unwrap().len() >= FAILED_MAX {
            return;
        }
        let report = live(seed, None, false);
        if let Err(verdict) = verdict(seed, &report) {
            failed.lock().unwrap().push(verdict);
        }
        steps.fetch_add(report.trace.1, Ordering::Relaxed);
        crashes.fetch_add(report.crashes, Ordering::Relaxed);
        made_anew.fetch_add(report.made_anew, Ordering::Relaxed);
        again.fetch_add(report.late_acks.again, Ordering::Relaxed);
        earlier.fetch_add(report.late_acks.of_earlier_stream, Ordering::Relaxed);
        let mut all = passed.lock().unwrap();
        for (point, passed) in report.passed {
            let sum = all.entry(point).or_default();
            sum.times += passed.times;
            sum.crashes += passed.crashes;
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    println!("{count} seeds in {:?}: {steps:?} steps, {crashes:?} crashes", began.elapsed());
    println!(
        "{made_anew:?} streams made anew; late acknowledgements: {again:?} after another delivery, \
         {earlier:?} after their stream"
    );
    for (what, happened) in [("stream", made_anew), ("delivery", again), ("old stream", earlier)] {
        assert!(count < SEEDS || happened.into_inner() > 0, "a fault never happened: {what}");
    }
    let passed = passed.into_inner().unwrap();
    let missed = cover(&passed);
    assert!(count < SEEDS_TO_COVER || missed.is_empty(), "nothing crashed at {missed:?}");
}

/// The number of crashes at each point; returns the points that were reached but where no node
/// crashed.
fn cover(passed: &BTreeMap<Point, Passed>) -> Vec<&'static str> {
    println!("{:>20} {:>10} {:>8}", "point", "passed", "crashed");
    let mut missed = Vec::new();
    for point in simulated() {
        let Passed { times, crashes } = passed.get(&point).copied().unwrap_or_default();
        println!("{:>20} {times:>10} {crashes:>8}", point.name());
        if crashes == 0 || times <= crashes {
            missed.push(point.name());
        }
    }
    missed
}

fn simulated() -> Vec<Point> {
    // In the simulation clients publish definitions, so the points of publications are not reached.
    let starts = &[Point::BeforeAccept, Point::Accepted, Point::Sent];
    [Point::EXECUTOR, Point::TIMER, Point::NOTIFIER, starts].concat()
}

#[test]
fn there_are_enough_points() {
    assert!(simulated().len() >= 40);
    assert!(Planted::ALL.len() >= 20);
}

#[test]
fn where_nothing_goes_wrong_nothing_has_to_be_mended() {
    for seed in 1..=3 {
        let options = Options { seed, planted: None, calm: true, keeps_lines: false };
        let report = run(engine(None), &options);
        check(seed, &report);
        assert_eq!((report.crashes, report.made_anew), (0, 0));
    }
}

#[test]
fn a_seed_replays_the_same_history() {
    for seed in [3, 17, 42] {
        let (first, second) = (live(seed, None, true), live(seed, None, true));
        let differ = first.lines.iter().zip(&second.lines).position(|(a, b)| a != b);
        if let Some(at) = differ {
            let from = at.saturating_sub(12);
            panic!(
                "seed {seed} goes another way at step {at}:\n{}\n---\n{}",
                first.lines[from..=at].join("\n"),
                second.lines[from..=at].join("\n")
            );
        }
        assert_eq!(first.trace, second.trace);
    }
}

#[test]
fn every_planted_bug_is_found() {
    let escaped = Mutex::new(Vec::new());
    search(0..Planted::ALL.len() as u64, |number| {
        let planted = Planted::ALL[usize::try_from(number).unwrap()];
        let began = Instant::now();
        let found = (1..=SEEDS_PER_BUG).find_map(|seed| {
            let complaints = live(seed, Some(planted), false).complaints;
            complaints.into_iter().next().map(|complaint| (seed, complaint))
        });
        match found {
            Some((seed, by)) => {
                println!("{planted:?}: {seed} seeds, {:?}: {by}", began.elapsed());
            }
            None => escaped.lock().unwrap().push(planted),
        }
    });
    let escaped = escaped.into_inner().unwrap();
    assert!(escaped.is_empty(), "not found in {SEEDS_PER_BUG} seeds: {escaped:?}");
}
