//! Settings and surroundings of a node: what changes with them, and what does not.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use cluster::{Node, NodePlan};
use model::Timestamp;
use serde_json::{Value, json};
use testkit::{eventually, within};

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::workflow::{delay, event, line, sequence, set_output};
use crate::world::World;

const SOON: Duration = Duration::from_secs(60);
const ZONES: &str = "/usr/share/zoneinfo";

fn node(name: &str, roles: &str, arguments: &[&str]) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    plan.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    plan
}

/// A node that starts without NATS ends after `--nats-wait` and says why. One that waits for longer
/// works as soon as NATS is there.
pub(crate) async fn a_start_waits_for_nats_as_long_as_it_is_set_to(mut world: World) {
    world.cluster.brokers_mut().servers()[0].kill().unwrap();
    let begin = |name: &str, wait: &str| {
        world.cluster.apart(node(name, "all", &["--nats-wait", wait])).unwrap()
    };
    let (mut patient, mut hasty) = (begin("patient", "10m"), begin("hasty", "1s"));
    eventually("the node with the short wait ends", SOON, async || !hasty.is_running()).await;
    assert!(hasty.said().contains("connect to NATS"), "{}", hasty.said());
    assert!(patient.is_running(), "{}", patient.said());
    assert!(!patient.is_healthy().await);
    world.cluster.brokers_mut().servers()[0].restart().await.unwrap();
    patient.wait_ready().await.unwrap();
}

/// With longer times a node that is killed counts as live for longer than the default says, and its
/// lease lasts for longer. Its work goes on after that.
pub(crate) async fn longer_times_keep_a_lost_node_for_longer_and_its_work_goes_on(world: World) {
    const LONGER: Duration = Duration::from_secs(7);
    const DEFAULTS: Duration = Duration::from_secs(5);
    let times = ["lease-ttl", "lease-wait", "presence-ttl"].map(|name| format!("--{name}"));
    let times: Vec<_> = times.iter().flat_map(|name| [name.as_str(), "7s"]).collect();
    let others = ["--nats-wait", "30s", "--database-wait", "5s"];
    let others = [&others[..], &["--database-statement-time", "30s"]].concat();
    let times = [&times[..], &others, &["--allow-private-addresses"]].concat();
    let gateway = node("gateway", "ingress,timer,cache-notifier", &times);
    let gateway = world.start(gateway).await;
    let mut lost = world.start(node("lost", "executor", &times)).await;
    let api = Api::new(&gateway.url());
    // A port at which nobody answers: a connection to it is accepted, and stays silent.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let call = json!({"type": "SendHttpRequest", "id": "call", "url": url});
    api.publish(&sequence("calls", &[event("wait", "go"), call])).await;
    let id = api.start("calls", json!({})).await;
    open_bookmark(&api, &id, "Elsa.Event").await;
    let client = world.client().await;
    client.publish(format!("staunch.cmd.resume.{id}"), "{}".into()).await.unwrap();
    client.flush().await.unwrap();
    let first = within("the first call", SOON, silent.accept()).await.unwrap();
    let _other = world.start(node("other", "executor", &times)).await;
    lost.kill().unwrap();
    let killed = Instant::now();
    let gone = eventually("the lost node counts as gone", SOON, async || {
        let nodes = api.get("/nodes").await.ok();
        !nodes.to_string().contains("\"lost\"")
    });
    let again = within("the other node repeats the call", SOON, silent.accept());
    let ((), again) = tokio::join!(gone, again);
    let took = killed.elapsed();
    assert!(took > DEFAULTS, "gone after {took:?}, and the times are {LONGER:?}");
    drop((first, again));
}

/// Nodes in different zones, one of them without zone files, compute the same times, and send all of
/// them in UTC.
pub(crate) async fn nodes_of_any_zone_and_without_zone_files_agree_about_times(world: World) {
    let Some(hidden) = without_zone_files() else { return };
    let in_zone = |name: &str, roles: &str, zone: &str| {
        let mut plan = NodePlan::new(name, roles);
        plan.environment.push(("TZ".to_owned(), zone.to_owned()));
        plan
    };
    let gateway = in_zone("gateway", "ingress,timer,cache-notifier", "America/New_York");
    let gateway = world.start(gateway).await;
    let api = Api::new(&gateway.url());
    let cron = |id: &str, expression: &str, zone: &str| json!({"type": "Cron", "id": id, "cronExpression": expression, "timeZone": zone});
    let activities = [
        set_output("local", "Result", "new Date(2026, 0, 1).toISOString()"),
        delay("pause", 1),
        cron("daily", "30 3 1 1 *", "Asia/Kolkata"),
    ];
    api.publish(&sequence("zoned", &activities)).await;
    let hide = NodePlan { under: hidden, ..in_zone("hidden", "executor", "Pacific/Auckland") };
    for plan in [in_zone("tokyo", "executor", "Asia/Tokyo"), hide] {
        let name = plan.name.clone();
        let mut executor: Node = world.start(plan).await;
        let began = testkit::now();
        let id = api.start("zoned", json!({})).await;
        open_bookmark(&api, &id, "Elsa.Cron").await;
        let journal = api.journal(&id).await;
        let at = |what: &str| {
            let entry = journal
                .iter()
                .find(|entry| entry["activityId"] == "pause" && entry["eventName"] == what);
            utc(&entry.unwrap()["timestamp"])
        };
        let waited = at("Resumed").since(at("Suspended"));
        assert!(waited >= Duration::from_secs(1) && waited < SOON, "{name}: {waited:?}");
        let instance = api.instance(&id).await;
        let created = utc(&instance["createdAt"]);
        assert!(created.since(began) < SOON && began.since(created) < SOON, "{name}: {created}");
        let open = api.get(&format!("/workflow-instances/{id}/bookmarks")).await.ok();
        let due = open["items"][0]["dueAt"].as_str().unwrap();
        // Half past three in Kolkata.
        assert!(
            due.ends_with("-12-31T22:00:00Z") || due.ends_with("-12-31T22:00:00.000Z"),
            "{due}"
        );
        let output = &instance["workflowState"]["output"]["Result"];
        assert_eq!(output, "2026-01-01T00:00:00.000Z", "{name}: {instance}");
        executor.stop().await.unwrap();
    }
    // A zone that does not exist is refused, so the names are known.
    let unknown = sequence("unknown", &[cron("c", "0 3 * * *", "Mars/Olympus"), line("l", "''")]);
    api.post("/workflow-definitions/import", &unknown).await;
    let answer = api.post("/workflow-definitions/unknown/publish", &json!({})).await;
    assert!(answer.body.to_string().contains("Mars/Olympus"), "{}", answer.body);
}

/// A time as the API sends it: in UTC.
fn utc(text: &Value) -> Timestamp {
    let text = text.as_str().unwrap();
    assert!(text.ends_with('Z'), "{text}");
    Timestamp::parse(text).unwrap()
}

/// The command that runs another one where the folder of zone files is empty; none where that is not
/// possible.
fn without_zone_files() -> Option<Vec<String>> {
    let script = format!("mount -t tmpfs none {ZONES} && exec \"$@\"");
    let under = ["unshare", "--mount", "sh", "-c", &script, "sh"].map(str::to_owned);
    if fs::metadata(ZONES).is_err() {
        // There are none.
        return Some(Vec::new());
    }
    let tried = Command::new(&under[0]).args(&under[1..]).args(["ls", ZONES]).output();
    let is_empty = tried.is_ok_and(|tried| tried.status.success() && tried.stdout.is_empty());
    if !is_empty {
        testkit::skip("root", "zones without zone files", "it needs root on Linux");
    }
    is_empty.then(|| under.to_vec())
}
