//! Commands that explain, on an installation in which something was broken by hand.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use testkit::{TestNats, eventually, nats};

use crate::dev::{Dev, SOON};
use crate::{json as document, run_in, stderr};

/// A workflow that waits for an event.
fn waits() -> Value {
    json!({"definitionId": "order", "name": "order",
        "root": {"type": "Event", "id": "pay", "eventName": "paid"}})
}

/// An installation: its broker, `staunch dev`, and the commands that ask it.
struct Site {
    here: tempfile::TempDir,
    nats: TestNats,
    dev: Dev,
}

impl Site {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(arguments: &[&str]) -> Self {
        let (here, nats) = (tempfile::tempdir().unwrap(), nats().await);
        let places = ["--nats-url", &nats.url()];
        let dev = Dev::start_with(here.path(), &[&places, arguments].concat()).await;
        Self { here, nats, dev }
    }

    fn path(&self) -> &Path {
        self.here.path()
    }

    /// Runs a command of the API.
    async fn run(&self, arguments: &[&str]) -> Output {
        let server = ["--server", self.dev.url.as_str()];
        run_in(self.path(), &[arguments, &server].concat()).await
    }

    /// Runs a command of the API that succeeds, and reads its JSON.
    async fn ask(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["-o", "json"]].concat()).await;
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        document(&output)
    }

    /// Runs a command that asks broker, database and API.
    async fn examine(&self, arguments: &[&str]) -> Output {
        let (nats, server) = (self.nats.url(), self.dev.url.clone());
        let places = ["--nats-url", &nats, "--database-url", "sqlite://data/staunch.db"];
        run_in(self.path(), &[arguments, &places, &["--server", &server]].concat()).await
    }

    /// Starts an instance that waits.
    async fn instance(&self) -> String {
        std::fs::write(self.path().join("order.json"), waits().to_string()).unwrap();
        self.ask(&["apply", "-f", "order.json"]).await;
        self.ask(&["run", "order"]).await["workflowInstanceId"].as_str().unwrap().to_owned()
    }

    /// Sends something to NATS as any client does.
    async fn publish(&self, subject: &str, payload: &str) {
        let args = chassis::Args { nats_url: Some(self.nats.url()), ..chassis::Args::default() };
        let settings = chassis::Settings::resolve(&args, &|_| None).unwrap();
        let bus = node::connect(&settings).await.unwrap();
        let (subject, payload) = (subject.to_owned(), payload.as_bytes().to_vec());
        let message = protocol::Message { subject, payload, ..protocol::Message::default() };
        let limit = std::time::Duration::from_secs(10);
        bus::Wire::request(&bus, message, limit).await.unwrap();
        bus.close().await;
    }
}

/// The checks with this grade, as text.
fn of(report: &Value, grade: &str) -> String {
    let checks = report["checks"].as_array().unwrap().iter();
    let some = checks.filter(|check| check["grade"] == grade);
    some.map(|check| format!("{} -> {}\n", check["found"], check["advice"])).collect()
}

#[tokio::test]
async fn why_says_what_an_instance_waits_for_and_its_lines_work() {
    let site = Site::start().await;
    let id = site.instance().await;
    let why = site.run(&["why", &id]).await;
    let said = String::from_utf8(why.stdout).unwrap();
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("It waits for the event \"paid\" at activity pay, since"), "{said}");
    let nats = format!("nats req staunch.api.event.paid '{{\"instanceId\":\"{id}\"}}'");
    assert!(said.contains(&nats), "{said}");
    let line = said.lines().map(str::trim).find(|line| line.starts_with("staunch instance resume"));
    let words: Vec<_> = line.unwrap().split(' ').skip(1).collect();
    assert!(words.ends_with(&["--server", &site.dev.url]), "{said}");
    let moved = run_in(site.path(), &words).await;
    assert!(moved.status.success(), "{}", stderr(&moved));
    let over = site.ask(&["why", &id]).await;
    assert!(over["answer"].as_str().unwrap().starts_with("It is Finished"), "{over:#}");
    let none = site.run(&["why", "nothing"]).await;
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
    site.dev.end().await;
}

#[tokio::test]
async fn a_stale_lease_is_listed_and_taken_away() {
    let site = Site::start().await;
    let id = site.instance().await;
    let lease = async |arguments: &[&str]| {
        let nats = site.nats.url();
        let places = ["-o", "json", "--nats-url", &nats];
        run_in(site.path(), &[&["lease"], arguments, &places].concat()).await
    };
    // A node that nobody knows holds it, for ever.
    let held = json!({"owner": "gone", "nonce": "01932c07a0007b3f8c0123456789abcd"});
    site.publish(&format!("$KV.staunch_leases.{id}"), &held.to_string()).await;
    let listed = document(&lease(&["ls", "--stale"]).await);
    assert_eq!(
        listed,
        json!([{"workflowInstanceId": id, "node": "gone", "isNodeLive": false,
            "since": "2024-11-14T18:55:17.504Z", "until": null, "wantedBy": []}])
    );
    let resumed = json!({"instanceId": id});
    site.publish("staunch.cmd.event.paid", &resumed.to_string()).await;
    eventually("the event waits for the lease of a node that is gone", SOON, async || {
        let answer = site.ask(&["why", &id]).await["answer"].to_string();
        answer.contains("gone, which holds its lease, is gone")
    })
    .await;
    let removed = document(&lease(&["rm", "--stale"]).await);
    assert_eq!(removed, json!([{"workflowInstanceId": id, "node": "gone"}]));
    eventually("the instance goes on", SOON, async || {
        let over = site.ask(&["why", &id]).await;
        over["answer"].as_str().unwrap().starts_with("It is Finished")
    })
    .await;
    let none = lease(&["rm", &id]).await;
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
    site.dev.end().await;
}

#[tokio::test]
async fn the_doctor_finds_what_was_broken_by_hand() {
    let site = Site::start().await;
    let doctor = ["doctor", "-o", "json"];
    let sound = site.examine(&doctor).await;
    assert_eq!(sound.status.code(), Some(0), "{}\n{}", stderr(&sound), document(&sound));
    let checks = document(&sound)["checks"].as_array().unwrap().len();
    assert!(checks >= 14, "{:#}", document(&sound));

    site.instance().await;
    site.publish("staunch.cmd.cancel.nobody", "{").await;
    site.ask(&["runtime", "pause", "--reason", "night"]).await;
    eventually("the command is a dead letter", SOON, async || {
        let report = document(&site.examine(&doctor).await);
        of(&report, "warn").contains("1 dead letter waits")
    })
    .await;
    let report = document(&site.examine(&doctor).await);
    let warnings = of(&report, "warn");
    assert!(warnings.contains("the whole cluster is paused"), "{report:#}");
    assert!(warnings.contains("staunch runtime resume"), "{report:#}");
    let accepted = site.run(&["run", "order"]).await;
    let said = stderr(&accepted);
    assert!(accepted.status.success() && said.contains("paused"), "{said}");

    site.publish("$JS.API.STREAM.DELETE.STAUNCH_TASKS", "").await;
    site.publish("$JS.API.STREAM.DELETE.OBJ_staunch_payloads", "").await;
    let broken = site.examine(&["doctor"]).await;
    assert_eq!(broken.status.code(), Some(1), "{}", stderr(&broken));
    let said = String::from_utf8(broken.stdout).unwrap();
    assert!(said.contains("bad   nats      STAUNCH_TASKS is missing"), "{said}");
    assert!(said.contains("bad   nats      OBJ_staunch_payloads is missing"), "{said}");
    assert!(said.contains("-> run `staunch provision`"), "{said}");
    site.dev.end().await;
}

#[tokio::test]
async fn the_doctor_says_what_does_not_answer() {
    let here = tempfile::tempdir().unwrap();
    let free = testkit::free_port();
    let nats = format!("nats://127.0.0.1:{free}");
    let server = format!("http://127.0.0.1:{free}");
    let arguments = ["doctor", "-o", "json", "--nats-url", &nats, "--server", &server];
    let output = run_in(here.path(), &arguments).await;
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let bad = of(&document(&output), "bad");
    for part in ["no nats-server answers", "there is no database", "nothing listens there"] {
        assert!(bad.contains(part), "{part}: {bad}");
    }
}

#[tokio::test]
async fn top_shows_what_the_nodes_do() {
    let site = Site::start().await;
    site.instance().await;
    let frame = site.ask(&["top", "--once"]).await;
    assert_eq!(frame["nodes"].as_array().unwrap().len(), 1, "{frame:#}");
    assert_eq!(frame["nodes"][0]["state"], "Running", "{frame:#}");
    assert!(frame["nodes"][0]["bursts"]["perSecond"].is_number(), "{frame:#}");
    assert_eq!((&frame["unfinished"], &frame["deadLetters"]), (&json!(1), &json!(0)), "{frame:#}");
    let shown = site.run(&["top", "--once"]).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("1 node; 1 instance unfinished; 0 dead letters"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    site.dev.end().await;
}

#[tokio::test]
async fn the_statements_of_the_database_are_shown_with_their_times() {
    let site = Site::start().await;
    site.instance().await;
    let listed = site.ask(&["statement", "ls", "--limit", "1000"]).await;
    let items = listed["items"].as_array().unwrap();
    let journal = items.iter().find(|one| one["text"].as_str().unwrap().contains("INTO journal"));
    let journal = journal.unwrap_or_else(|| panic!("{listed:#}"));
    assert!(journal["rows"].as_u64().unwrap() > 0, "{journal}");
    let total = |one: &Value| one["totalMs"].as_f64().unwrap();
    assert!(items.iter().all(|one| total(one) <= total(&items[0])), "{listed:#}");
    let shown = site.run(&["statement", "ls", "--by", "count", "--limit", "2"]).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("COUNT") && shown.lines().count() == 3, "{shown}");
    site.dev.end().await;
}

#[tokio::test]
async fn a_support_bundle_has_everything_but_secrets() {
    const SECRETS: [&str; 5] = [
        "Kq7planted-key-0a1b2c3d4e5f60718293",
        "planted-mail",
        "planted-sql",
        "planted-script",
        "planted-letter",
    ];
    let site = Site::start().await;
    site.publish("staunch.cmd.cancel.x", "{\"reason\": \"planted-letter").await;
    eventually("the command is a dead letter", SOON, async || {
        site.ask(&["top", "--once"]).await["deadLetters"] == 1
    })
    .await;
    let output = site
        .examine(&[
            "support-bundle",
            "-f",
            "bundle.zip",
            "-o",
            "json",
            "--api-key",
            SECRETS[0],
            "--smtp-url",
            "smtp://u:planted-mail@h:587",
            "--sql-connections",
            "shop=postgres://u:planted-sql@h/d",
            "--script-config",
            "Shop:Key=planted-script",
        ])
        .await;
    assert!(output.status.success(), "{}", stderr(&output));
    let entries = document(&output)["entries"].as_array().unwrap().len();
    assert!(entries >= 8, "{}", document(&output));
    let file = std::fs::File::open(site.path().join("bundle.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    assert_eq!(zip.len(), entries);
    let mut all = String::new();
    for number in 0..zip.len() {
        let mut entry = zip.by_index(number).unwrap();
        all.push_str(&entry.name().unwrap());
        std::io::Read::read_to_string(&mut entry, &mut all).unwrap();
    }
    for secret in SECRETS {
        assert!(!all.contains(secret), "{secret} is in the bundle");
    }
    for part in [
        "STAUNCH_COMMANDS",
        "migrationsApplied",
        "staunch_instances",
        "\"grade\": \"ok\"",
        "staunch.cmd.cancel.x",
        "\"name\": \"nats-url\"",
        "metrics-missing.json[]",
        // No admin port was named.
        "logs-missing.json[",
        // Those of the nodes may be others.
        "settings-of-this-command.json[",
    ] {
        assert!(all.contains(part), "{part} is not in the bundle");
    }
    let again = site.examine(&["support-bundle", "-f", "bundle.zip"]).await;
    assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
    site.dev.end().await;
}

#[tokio::test]
async fn the_log_of_a_running_process_is_changed() {
    let admin = format!("127.0.0.1:{}", testkit::free_port());
    let site = Site::start_with(&["--admin-listen", &admin]).await;
    let url = format!("http://{admin}");
    let level = async |arguments: &[&str]| {
        let all = [&["log-level"], arguments, &["--admin", &url, "-o", "json"]].concat();
        run_in(site.path(), &all).await
    };
    let filter = async |arguments: &[&str]| document(&level(arguments).await)["filter"].clone();
    assert_eq!(filter(&[]).await, "warn");
    assert_eq!(filter(&["ingress=debug"]).await, "warn,ingress=debug");
    site.ask(&["instance", "ls"]).await;
    let wrong = level(&["ingress=loud"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
    assert!(stderr(&wrong).contains("no level"), "{}", stderr(&wrong));
    assert_eq!(filter(&["info,ingress=off"]).await, "info,ingress=off");
    site.instance().await;
    assert_eq!(filter(&["--reset"]).await, "warn");
    let bundle = ["support-bundle", "-f", "logs.zip", "--nodes", &url];
    let bundle = site.examine(&bundle).await;
    assert!(bundle.status.success(), "{}", stderr(&bundle));
    let file = std::fs::File::open(site.path().join("logs.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    let mut entry = |name: &str| std::io::read_to_string(zip.by_name(name).unwrap()).unwrap();
    let log = entry("log-0.txt");
    assert!(log.contains("the log filter has changed") && log.contains(" INFO "), "{log}");
    assert!(!log.contains('\u{1b}'), "{log}");
    assert_eq!(entry("logs-missing.json").trim(), "[]");
    let said = site.dev.end().await;
    assert!(said.contains("the log filter has changed"), "{said}");
    assert!(said.contains(" INFO "), "{said}");
}
