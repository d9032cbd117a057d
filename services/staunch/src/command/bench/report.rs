//! The report of a measurement, as a table or as JSON.

use ::raw::Bound;
use load::{Figures, Report};
use serde_json::{Value, json};

use crate::output::{self, Format};
use crate::{Failure, say};

use super::raw;

/// One measurement, the cluster that was measured, and what was measured beside it.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) report: Report,
    pub(super) about: Vec<String>,
    /// What the measurement is to be compared with, from the same run.
    pub(super) beside: Vec<Bound>,
}

/// The figures of a scenario, as something to compare with.
pub(super) fn bound(report: &Report) -> Bound {
    let times = report.times.last();
    Bound {
        name: report.scenario.name(),
        what: report.scenario.what().to_owned(),
        in_flight: report.lanes,
        throughput: report.throughput,
        p50: times.map_or(0.0, |times| times.p50),
        p99: times.map_or(0.0, |times| times.p99),
    }
}

/// The share of a bound's rate that a measurement reaches; none of a bound that is no rate.
fn part(report: &Report, bound: &Bound) -> Option<f64> {
    (bound.throughput > 0.0).then(|| report.throughput / bound.throughput)
}

/// Prints the report.
///
/// # Errors
/// When standard output is closed, or an instance has failed.
pub(super) fn print(measured: &Measured, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(&as_json(measured)?)?,
        Format::Table => table(measured)?,
    }
    verdict(&measured.report)
}

/// Fails if an instance failed or ended twice: the figures are meaningless then.
pub(super) fn verdict(report: &Report) -> Result<(), Failure> {
    if report.failed == 0 && report.doubles.unwrap_or_default() == 0 {
        return Ok(());
    }
    let Report { failed, done, .. } = report;
    let doubles = report.doubles.unwrap_or_default();
    let text = format!("{failed} of {} failed, {doubles} ended twice", done + failed);
    Err(Failure::failed(text).with(report.failures.clone()))
}

/// The report as JSON.
///
/// # Errors
/// When the report cannot be written as JSON.
pub(super) fn as_json(measured: &Measured) -> Result<Value, Failure> {
    let failed = |error| Failure::failed(format!("the report cannot be written: {error}"));
    let mut body = serde_json::to_value(&measured.report).map_err(failed)?;
    body["about"] = json!(measured.about);
    let mut beside = Vec::new();
    for bound in &measured.beside {
        let mut one = serde_json::to_value(bound).map_err(failed)?;
        one["part"] = json!(part(&measured.report, bound));
        beside.push(one);
    }
    body["beside"] = Value::Array(beside);
    Ok(body)
}

fn table(measured: &Measured) -> Result<(), Failure> {
    let Measured { report, about, beside } = measured;
    for line in about {
        say::data(line)?;
    }
    say::data("")?;
    say::data(&headline(report))?;
    say::data("")?;
    let headings = ["MILLISECONDS", "COUNT", "MEAN", "P50", "P90", "P99", "P99.9", "MAX"];
    output::table(&headings, &report.times.iter().map(row).collect::<Vec<_>>())?;
    say::data("")?;
    let rows = report.usage.iter().map(|usage| {
        vec![
            usage.name.clone(),
            format!("{:.2}", usage.cpu / report.seconds.max(0.001)),
            format!("{:.3}", usage.cpu * 1_000.0 / as_float(report.instances().max(1))),
            format!("{:.0}", usage.memory),
        ]
    });
    let rows: Vec<_> = rows.collect();
    output::table(&["PROCESS", "CORES", "CPU MS EACH", "MIB"], &rows)?;
    if beside.is_empty() {
        return Ok(());
    }
    say::data("")?;
    let rows = beside.iter().map(|bound| {
        let mut row = raw::row(bound);
        let part = part(report, bound).map(|part| format!("{part:.3}"));
        row.insert(row.len().saturating_sub(1), part.unwrap_or_default());
        row
    });
    let headings =
        ["BESIDE IT", "IN FLIGHT", "PER SECOND", "P50 MS", "P99 MS", "REACHED OF IT", "WHAT"];
    output::table(&headings, &rows.collect::<Vec<_>>())
}

/// The main figures on one line.
pub(super) fn headline(report: &Report) -> String {
    let Report { done, failed, seconds, throughput, lanes, .. } = report;
    let (scenario, transport) = (report.scenario.name(), report.transport.name());
    let loop_kind = match report.rate {
        Some(rate) => format!("{rate} due each second, at most {lanes} in flight"),
        None => format!("{lanes} in flight"),
    };
    let mut line = format!(
        "{scenario} over {transport}: {throughput:.0}/s ({done} done, {failed} failed, \
         {seconds:.1} s, {loop_kind}"
    );
    if let Some(doubles) = report.doubles {
        line.push_str(&format!(", 0 early, {doubles} double"));
    }
    line.push(')');
    let each = report.scenario.instances();
    if each > 1 {
        line.push_str(&format!(" = {:.0} instances/s", throughput * as_float(each)));
    }
    line
}

fn row(figures: &Figures) -> Vec<String> {
    let Figures { name, count, mean, p50, p90, p99, p999, max } = *figures;
    let mut row = vec![name.to_owned(), count.to_string()];
    row.extend([mean, p50, p90, p99, p999, max].map(|value| format!("{value:.2}")));
    row
}

#[expect(clippy::cast_precision_loss, reason = "counts fit")]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use load::{Scenario, Times, Transport};

    use super::*;

    fn report() -> Report {
        let times = Times::default();
        times.note("due to finished", std::time::Duration::from_millis(4));
        Report {
            scenario: Scenario::Timer,
            transport: Transport::Nats,
            lanes: 2,
            rate: Some(100.0),
            done: 300,
            failed: 0,
            failures: Vec::new(),
            seconds: 3.0,
            throughput: 100.0,
            times: times.figures(),
            doubles: Some(0),
            usage: Vec::new(),
        }
    }

    #[test]
    fn a_loss_is_a_failure() {
        assert!(verdict(&report()).is_ok());
        assert!(verdict(&Report { doubles: Some(1), ..report() }).is_err());
        let lost = Report { failed: 2, failures: vec!["no outcome".to_owned()], ..report() };
        let failure = verdict(&lost).unwrap_err();
        assert_eq!(failure.message, "2 of 302 failed, 0 ended twice");
        assert_eq!(failure.details, ["no outcome"]);
    }

    #[test]
    fn the_headline_says_how_it_was_asked() {
        let line = headline(&report());
        let expected = "timer over NATS: 100/s (300 done, 0 failed, 3.0 s, 100 due each second, \
                        at most 2 in flight, 0 early, 0 double)";
        assert_eq!(line, expected);
        let fanout = Report { scenario: Scenario::Fanout, doubles: None, rate: None, ..report() };
        assert!(headline(&fanout).ends_with("2 in flight) = 10100 instances/s"));
    }

    #[test]
    fn programs_get_the_same_figures() {
        let start = Report { scenario: Scenario::Start, throughput: 400.0, ..report() };
        let beside = vec![bound(&start)];
        let measured = Measured { report: report(), about: vec!["one node".to_owned()], beside };
        let body = as_json(&measured).unwrap();
        assert_eq!((&body["scenario"], &body["transport"]), (&json!("timer"), &json!("nats")));
        assert_eq!((&body["done"], &body["about"][0]), (&json!(300), &json!("one node")));
        assert_eq!(body["times"][0]["count"], 1);
        let beside = &body["beside"][0];
        assert_eq!((&beside["name"], &beside["part"]), (&json!("start"), &json!(0.25)));
        assert!(beside["p50"].as_f64().unwrap() > 3.0, "{beside}");
    }
}
