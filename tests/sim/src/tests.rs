use std::sync::{Arc, OnceLock};
use std::time::Instant;

use engine::Engine;

use crate::planted::Planted;
use crate::world::{Options, Report, run};

/// Seeds that every run tries, without `SIM_SEEDS`.
const SEEDS: u64 = 200;
/// Seeds within which each planted bug is found.
const SEEDS_PER_BUG: u64 = 60;

fn engine() -> &'static Arc<Engine> {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    ENGINE.get_or_init(|| Arc::new(Engine::new(activities::all(), expressions::all())))
}

fn live(seed: u64, keeps_lines: bool) -> Report {
    run(engine(), &Options { seed, planted: None, calm: false, keeps_lines })
}

#[expect(clippy::disallowed_methods, reason = "how long to search is for whoever runs the test")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(seed: u64, report: &Report) {
    if report.complaints.is_empty() {
        return;
    }
    for line in &report.lines {
        println!("{line}");
    }
    panic!(
        "seed {seed}, after {} steps and {} crashes:\n  {}\nreplay it with\n  \
         SIM_SEED={seed} cargo test -p sim every_seed -- --nocapture",
        report.trace.1,
        report.crashes,
        report.complaints.join("\n  ")
    );
}

/// Seeds are shared out over as many threads as there are.
fn search(seeds: std::ops::Range<u64>, visit: impl Fn(u64) + Sync) {
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    visit(seed);
                }
            });
        }
    });
}

#[test]
fn every_seed_ends_well() {
    if let Some(seed) = variable("SIM_SEED") {
        check(seed, &live(seed, true));
        return;
    }
    let count = variable("SIM_SEEDS").unwrap_or(SEEDS);
    let first = variable("SIM_FIRST").unwrap_or(1);
    let began = Instant::now();
    search(first..first + count, |seed| check(seed, &live(seed, false)));
    println!("{count} seeds in {:?}", began.elapsed());
}

#[test]
fn where_nothing_goes_wrong_nothing_has_to_be_mended() {
    for seed in 1..=3 {
        let report =
            run(engine(), &Options { seed, planted: None, calm: true, keeps_lines: false });
        check(seed, &report);
        assert_eq!(report.crashes, 0);
    }
}

#[test]
fn a_seed_replays_the_same_history() {
    for seed in [3, 17, 42] {
        let (first, second) = (live(seed, true), live(seed, true));
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
    for planted in Planted::ALL {
        let began = Instant::now();
        let found = (1..=SEEDS_PER_BUG).find(|seed| {
            let planted = Some(planted);
            let options = Options { seed: *seed, planted, calm: false, keeps_lines: false };
            !run(engine(), &options).complaints.is_empty()
        });
        let found =
            found.unwrap_or_else(|| panic!("{planted:?} is not found in {SEEDS_PER_BUG} seeds"));
        println!("{planted:?} is found by seed {found} in {:?}", began.elapsed());
    }
}
