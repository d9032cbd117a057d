//! The benchmark as an operator runs it: its counts add up, and it leaves no process behind.

use std::process::Output;
use std::time::Duration;

use testkit::within;

use crate::{TURN, command, json, stderr};

/// The time in which clusters start and stop on any machine.
const RUN_MAX: Duration = Duration::from_secs(180);

async fn bench(arguments: &[&str]) -> Output {
    let mut command = command(&[&["bench"], arguments].concat());
    within("the benchmark", RUN_MAX, command.output()).await.unwrap()
}

#[tokio::test]
async fn what_is_asked_for_is_done_and_counted() {
    let _turn = TURN.acquire().await.unwrap();
    for over in ["nats", "http"] {
        let arguments =
            ["start", "-n", "200", "-c", "8", "--seconds", "60", "--over", over, "-o", "json"];
        let output = bench(&arguments).await;
        assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
        let report = json(&output);
        assert_eq!((&report["done"], &report["failed"]), (&200.into(), &0.into()), "{report}");
        let times = &report["times"][0];
        assert_eq!((&times["name"], &times["count"]), (&"start to finished".into(), &200.into()));
        let at = |name: &str| times[name].as_f64().unwrap();
        assert!(at("p50") > 0.0 && at("p50") <= at("p99") && at("p99") <= at("max"), "{times}");
        let (throughput, seconds) =
            (report["throughput"].as_f64().unwrap(), report["seconds"].as_f64().unwrap());
        assert!((throughput * seconds - 200.0).abs() < 0.5, "{report}");
        let usage = report["usage"].as_array().unwrap();
        let names: Vec<_> = usage.iter().map(|usage| usage["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["node-1", "nats-server", "load"]);
    }
}

#[tokio::test]
async fn a_scenario_shows_what_it_is_compared_with() {
    let _turn = TURN.acquire().await.unwrap();
    for (scenario, expected) in [("task", "pull-publish-ack"), ("listen", "start")] {
        let output =
            bench(&[scenario, "-n", "50", "-c", "8", "--seconds", "60", "-o", "json"]).await;
        assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
        let report = json(&output);
        assert_eq!((&report["done"], &report["failed"]), (&50.into(), &0.into()), "{report}");
        let beside = &report["beside"][0];
        assert_eq!((&beside["name"], &beside["inFlight"]), (&expected.into(), &8.into()));
        for figure in ["throughput", "p50", "p99", "part"] {
            assert!(beside[figure].as_f64().is_some_and(|figure| figure > 0.0), "{beside}");
        }
    }
}

#[tokio::test]
async fn a_load_shows_a_credential_over_tls() {
    let _turn = TURN.acquire().await.unwrap();
    for (credential, expected) in [("api-key", "an API key"), ("token", "the token of a user")] {
        let arguments = ["start", "-n", "50", "-c", "8", "--seconds", "60", "--over", "http"];
        let access = ["--credential", credential, "--tls", "-o", "json"];
        let output = bench(&[arguments.as_slice(), &access].concat()).await;
        assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
        let report = json(&output);
        assert_eq!((&report["done"], &report["failed"]), (&50.into(), &0.into()), "{report}");
        let about = report["about"].to_string();
        assert!(about.contains(expected) && about.contains("TLS 1.3"), "{about}");
    }
}

#[tokio::test]
async fn nonsense_is_a_usage_error() {
    let wrong: [&[&str]; 8] = [
        &["start", "--rate", "0"],
        &["start", "-c", "0"],
        &["start", "--seconds", "0"],
        &["start", "--brokers", "2"],
        &["start", "--database", "mysql"],
        &["start", "--tls"],
        &["start", "--over", "nats", "--credential", "token"],
        &["raw", "--preload", "/does/not/exist"],
    ];
    for arguments in wrong {
        let output = bench(arguments).await;
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("error: "), "{said}");
    }
}
