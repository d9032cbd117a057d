//! `staunch bench suite`: measures the raw bounds and every scenario in one run, and compares each
//! scenario with its bound.

use std::time::Duration;

use load::{Bounds, Order, Report, Scenario, Transport};
use raw::Bound;
use serde_json::{Value, json};

use crate::output::{self, Format};
use crate::{Failure, say};

use super::arena::Arena;
use super::args::{COUNT_MAX, ClusterArgs};
use super::{raw as bare, report};

/// Timers that are due each second.
const TIMERS: f64 = 1_000.0;
/// The wait of timers in the scenario that starts all of them before the first is due.
const TIMER_DELAY: Duration = Duration::from_secs(15);
const TIMER_LANES: usize = 8_192;
/// The number of bursts that an executor runs at once when one executor is compared with several:
/// small enough that four executors fit on a small machine.
const IO_CONCURRENCY: usize = 4;
const IO_EXECUTORS: [usize; 2] = [1, 4];

/// One measurement of the suite.
struct Line {
    scenario: Scenario,
    transport: Transport,
    lanes: usize,
    rate: Option<f64>,
    delay: Option<Duration>,
}

/// The figures of one measurement.
struct Done {
    report: Report,
    /// The share of its bound that it reaches, if it has a bound.
    part: Option<f64>,
}

fn lines() -> Vec<Line> {
    let line = |scenario: Scenario, transport, lanes| Line {
        scenario,
        transport,
        lanes,
        rate: None,
        delay: None,
    };
    let many = |scenario: Scenario| line(scenario, Transport::Nats, scenario.lanes());
    vec![
        many(Scenario::Start),
        line(Scenario::Start, Transport::Http, Scenario::Start.lanes()),
        many(Scenario::Steps),
        many(Scenario::Calls),
        line(Scenario::Calls, Transport::Http, Scenario::Calls.lanes()),
        many(Scenario::Resume),
        many(Scenario::Fanout),
        many(Scenario::Contend),
        many(Scenario::Task),
        many(Scenario::Listen),
        many(Scenario::Payload),
        line(Scenario::Start, Transport::Nats, 1),
        line(Scenario::Start, Transport::Http, 1),
        line(Scenario::Resume, Transport::Nats, 1),
        many(Scenario::Publish),
        Line { rate: Some(TIMERS), ..many(Scenario::Timer) },
        Line {
            rate: Some(TIMERS),
            delay: Some(TIMER_DELAY),
            ..line(Scenario::Timer, Transport::Nats, TIMER_LANES)
        },
    ]
}

/// Runs every measurement; prints a table or JSON.
///
/// # Errors
/// When the cluster does not start, or an instance fails.
pub(super) async fn run(
    args: &ClusterArgs,
    length: Duration,
    format: Format,
) -> Result<(), Failure> {
    if !args.server.is_empty() {
        return Err(Failure::usage("suite measures clusters of its own: leave out --server"));
    }
    let bounds = bare::measure(args, length / 3).await?;
    let mut arena = Arena::open(args).await?;
    arena.seed(args.seed_instances).await?;
    let mut all = Vec::new();
    for line in lines() {
        let order = order(&line, &arena, length);
        let report = load::run(arena.target(), &order, &|_| ()).await?;
        say::message(&report::headline(&report));
        let part = part(&report, &bounds);
        all.push(Done { report, part });
    }
    let about = arena.about().to_vec();
    arena.close().await?;
    let scaling = scaling(args, length, &mut all).await?;
    match format {
        Format::Json => output::json(&as_json(&bounds, &all, scaling, &about)?)?,
        Format::Table => table(&bounds, &all, scaling, &about)?,
    }
    all.iter().try_for_each(|done| report::verdict(&done.report))
}

fn order(line: &Line, arena: &Arena, length: Duration) -> Order {
    let Line { scenario, transport, lanes, rate, delay } = *line;
    Order {
        scenario,
        transport,
        lanes,
        bounds: Bounds { count: COUNT_MAX, length },
        rate,
        few: 8,
        delay,
        bytes: 1 << 20,
        name: arena.name(&format!("{}-{}-{lanes}", scenario.name(), transport.name())),
        processes: arena.processes(),
    }
}

/// Compares one executor with several on instances that mostly wait: the ratio of throughputs.
async fn scaling(
    args: &ClusterArgs,
    length: Duration,
    all: &mut Vec<Done>,
) -> Result<f64, Failure> {
    let mut reached = Vec::new();
    for executors in IO_EXECUTORS {
        let args =
            ClusterArgs { executors, executor_concurrency: Some(IO_CONCURRENCY), ..args.clone() };
        let arena = Arena::open(&args).await?;
        let line = Line {
            scenario: Scenario::Io,
            transport: Transport::Nats,
            lanes: Scenario::Io.lanes(),
            rate: None,
            delay: None,
        };
        let report = load::run(arena.target(), &order(&line, &arena, length), &|_| ()).await?;
        say::message(&format!("{executors} executors: {}", report::headline(&report)));
        arena.close().await?;
        reached.push(report.throughput);
        all.push(Done { report, part: None });
    }
    Ok(ratio(reached.last().copied(), reached.first().copied()).unwrap_or_default())
}

/// The share of its bound that a scenario reaches; 1 is the bound itself. With many operations in
/// flight: its throughput divided by that of the composite bound. With one in flight: the bound's
/// latency divided by its own.
fn part(report: &Report, bounds: &[Bound]) -> Option<f64> {
    let composite = |is_one| {
        let fits = |bound: &&Bound| bound.name == "composite" && (bound.in_flight == 1) == is_one;
        bounds.iter().find(fits)
    };
    let messages = bounds.iter().find(|bound| bound.name == "pull-publish-ack");
    match (report.scenario, report.lanes) {
        (Scenario::Task, _) => ratio(Some(report.throughput), messages.map(|it| it.throughput)),
        (Scenario::Start, 1) => {
            ratio(composite(true).map(|it| it.p50), report.times.last().map(|it| it.p50))
        }
        (Scenario::Start | Scenario::Steps | Scenario::Calls | Scenario::Resume, _)
            if report.lanes > 1 =>
        {
            ratio(Some(report.throughput), composite(false).map(|it| it.throughput))
        }
        _ => None,
    }
}

fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    let (of, to) = (of?, to.filter(|to| *to > 0.0)?);
    Some(of / to)
}

fn as_json(
    bounds: &[Bound],
    all: &[Done],
    scaling: f64,
    about: &[String],
) -> Result<Value, Failure> {
    let failed = |error| Failure::failed(format!("the report cannot be written: {error}"));
    let mut scenarios = Vec::new();
    for Done { report, part } in all {
        let mut body = serde_json::to_value(report).map_err(failed)?;
        body["partOfBound"] = json!(part);
        scenarios.push(body);
    }
    Ok(json!({"about": about, "bounds": serde_json::to_value(bounds).map_err(failed)?,
        "scenarios": scenarios, "ioScaling": {"executors": IO_EXECUTORS, "factor": scaling}}))
}

fn table(bounds: &[Bound], all: &[Done], scaling: f64, about: &[String]) -> Result<(), Failure> {
    bare::table(bounds)?;
    say::data("")?;
    about.iter().try_for_each(|line| say::data(line))?;
    say::data("")?;
    let rows: Vec<_> = all.iter().flat_map(rows).collect();
    let headings =
        ["SCENARIO", "OVER", "IN FLIGHT", "PER SECOND", "OF BOUND", "MILLISECONDS", "P50", "P99"];
    output::table(&headings, &rows)?;
    say::data("")?;
    let [few, many] = IO_EXECUTORS;
    say::data(&format!("io: {many} executors do {scaling:.2} times what {few} does"))?;
    let usage = all.first().map(|done| done.report.usage.as_slice()).unwrap_or_default();
    let memory: Vec<_> =
        usage.iter().map(|usage| format!("{} {:.0} MiB", usage.name, usage.memory)).collect();
    say::data(&format!("memory after the first scenario: {}", memory.join(", ")))
}

/// One row for each latency; the first row has the other figures too.
fn rows(done: &Done) -> Vec<Vec<String>> {
    let Done { report, part } = done;
    let mut lead = vec![
        report.scenario.name().to_owned(),
        report.transport.name().to_owned(),
        report.lanes.to_string(),
        format!("{:.0}", report.throughput),
        part.map(|part| format!("{part:.2}")).unwrap_or_default(),
    ];
    let mut rows = Vec::new();
    for figures in &report.times {
        let mut row = std::mem::replace(&mut lead, vec![String::new(); 5]);
        row.push(figures.name.to_owned());
        row.extend([figures.p50, figures.p99].map(|value| format!("{value:.2}")));
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(in_flight: usize, throughput: f64, p50: f64) -> Bound {
        let what = "pull, lock, commit".to_owned();
        Bound { name: "composite", what, in_flight, throughput, p50, p99: p50 }
    }

    fn report(scenario: Scenario, lanes: usize, throughput: f64) -> Report {
        let times = load::Times::default();
        times.note("start to finished", Duration::from_millis(2));
        Report {
            scenario,
            transport: Transport::Nats,
            lanes,
            rate: None,
            done: 1,
            failed: 0,
            failures: Vec::new(),
            seconds: 1.0,
            throughput,
            times: times.figures(),
            doubles: None,
            usage: Vec::new(),
        }
    }

    #[test]
    fn each_is_held_against_its_own_bound() {
        let bounds = [bound(256, 8_000.0, 30.0), bound(1, 1_000.0, 1.0)];
        let near = |part: Option<f64>, expected: f64| {
            let part = part.unwrap();
            assert!((part - expected).abs() < 0.01, "{part}");
        };
        near(part(&report(Scenario::Start, 256, 4_800.0), &bounds), 0.6);
        near(part(&report(Scenario::Start, 1, 500.0), &bounds), 0.5);
        assert!(part(&report(Scenario::Contend, 64, 500.0), &bounds).is_none());
        assert!(part(&report(Scenario::Start, 256, 500.0), &[]).is_none());
    }

    #[test]
    fn what_is_said_once_stands_in_the_first_row() {
        let times = load::Times::default();
        times.note("a", Duration::from_millis(1));
        times.note("b", Duration::from_millis(2));
        let report = Report { times: times.figures(), ..report(Scenario::Resume, 2, 7.4) };
        let rows = rows(&Done { report, part: Some(0.5) });
        assert_eq!(rows[0], ["resume", "NATS", "2", "7", "0.50", "a", "1.00", "1.00"]);
        assert_eq!(rows[1], ["", "", "", "", "", "b", "2.00", "2.00"]);
    }
}
