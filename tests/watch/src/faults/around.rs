//! What is around a node: clocks, certificates and networks, a full stream, damaged rows, other nodes.

use std::path::Path;

use cluster::NodePlan;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use testkit::{FalseClock, Proxy};

use super::*;

/// Less than the alert about certificates allows.
const EXPIRES: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// More for one way than the alerts about slow servers allow for both.
const SLOW: Duration = Duration::from_millis(400);
/// Instances whose events are more than the alert about the outbox allows.
const UNPUBLISHED: usize = 700;

/// A node whose figures are at an address of their own; returns that, too.
fn watched(name: &str, roles: &str) -> (NodePlan, Api) {
    let admin = format!("127.0.0.1:{}", testkit::free_port());
    let mut plan = load::node(name, roles);
    plan.arguments.extend(["--admin-listen".to_owned(), admin.clone()]);
    (plan, Api::new(&format!("http://{admin}")))
}

/// A certificate for this machine that expires soon; returns its files.
fn certificate(folder: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let now = Duration::from_millis(testkit::now().as_millis().unsigned_abs());
    params.not_after = date_time_ymd(1970, 1, 1) + (now + EXPIRES);
    let (cert_file, key_file) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert_file, params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    (cert_file, key_file)
}

/// The only node with the role is gone while timers and a schedule are due.
async fn timers_wait(cluster: &mut Cluster, timer: usize, api: &Api, prometheus: &Prometheus) {
    let cron = json!({"type": "Cron", "cronExpression": "* * * * * *", "misfire": "Skip",
        "canStartWorkflow": true});
    api.publish(&sequence("ticking", &[cron, line("tick")])).await;
    let delay = json!({"type": "Delay", "timeSpan": "00:00:01"});
    api.publish(&sequence("delayed", &[delay, line("later")])).await;
    api.reaches("ticking", "Finished", 2).await;
    cluster.node_mut(timer).kill().unwrap();
    api.start("delayed").await;
    fires(prometheus, "StaunchRoleMissing").await;
    fires(prometheus, "StaunchTimersLate").await;
    cluster.node_mut(timer).restart().await.unwrap();
    fires(prometheus, "StaunchMisfires").await;
    ends(prometheus, "StaunchRoleMissing").await;
    ends(prometheus, "StaunchTimersLate").await;
    api.reaches("delayed", "Finished", 1).await;
    let (status, body) = api.post("/workflow-definitions/ticking/retract", &json!({})).await;
    assert_eq!(status, 200, "{body}");
}

/// The stream of events takes nothing, so that committed messages stay; then one of them is damaged by
/// a statement.
async fn messages_stay(
    client: &async_nats::Client,
    run: impl AsyncFnOnce(&'static str),
    api: &Api,
    prometheus: &Prometheus,
) {
    let jetstream = jetstream::new(client.clone());
    let stream = jetstream.get_stream("STAUNCH_EVENTS").await.unwrap();
    let config = stream.cached_info().config.clone();
    let refuses = jetstream::stream::Config { max_message_size: 1, ..config.clone() };
    jetstream.update_stream(refuses).await.unwrap();
    for _ in 0..UNPUBLISHED {
        api.start("quick").await;
    }
    fires(prometheus, "StaunchOutboxGrows").await;
    let damage = "UPDATE outbox SET message = 'damaged' \
                  WHERE id = (SELECT id FROM outbox ORDER BY created_at LIMIT 1)";
    run(damage).await;
    fires(prometheus, "StaunchRowsUnreadable").await;
    jetstream.update_stream(config).await.unwrap();
    ends(prometheus, "StaunchOutboxGrows").await;
    api.reaches("quick", "Finished", UNPUBLISHED as u64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_fire_when_something_around_a_node_goes_wrong() {
    if testkit::promtool().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = FalseClock::find(folder.path(), "alerts about clocks") else { return };
    let Some(mut postgres) = testkit::own_postgres(false).await else { return };

    let mut plan = Plan::new(&executable("staunch").await);
    plan.database = Database::Url(postgres.url("postgres"));
    let mut cluster = Cluster::start(plan).await.unwrap();
    let nats = Proxy::to(cluster.nats_url().trim_start_matches("nats://")).await;
    let database = Proxy::to(&format!("127.0.0.1:{}", postgres.port())).await;
    let mut work = load::node("work", "ingress,executor,cache-notifier");
    work.nats_url = Some(format!("nats://{}", nats.address()));
    work.database_url = Some(format!("postgres://postgres@{}/postgres", database.address()));
    let (timer, timer_figures) = watched("timer", "timer");
    let mut odd = load::node("odd", "ingress");
    odd.environment = clock.environment();
    odd.tls = Some(certificate(folder.path()));
    for node in [work, timer, odd] {
        cluster.add(node).await.unwrap();
    }
    let (working, timing) = (0, 1);
    let api = Api::new(&cluster.nodes()[working].url());
    let odd_figures = Api::new(&cluster.nodes()[2].health_url());
    let targets = [&api, &timer_figures, &odd_figures].map(Api::target);
    counts(&[&api, &timer_figures, &odd_figures]).await;
    let at_once = alerts::rules(|_| "0s".to_owned());
    let prometheus = Prometheus::start(&targets, Some(&at_once)).await.unwrap();
    api.publish(&sequence("quick", &[line("quick")])).await;
    let event = json!({"type": "Event", "eventName": "go"});
    api.publish(&sequence("waiting", &[event])).await;
    fires(&prometheus, "StaunchCertificateExpires").await;
    ends(&prometheus, "StaunchNoNode").await;
    ends(&prometheus, "StaunchNobodyCounts").await;
    let before = prometheus.firing().await;
    assert_eq!(before, ["StaunchCertificateExpires"], "before the other faults");

    clock.set("+3600");
    fires(&prometheus, "StaunchClockApart").await;
    clock.set("+0");
    ends(&prometheus, "StaunchClockApart").await;

    for proxy in [&nats, &database] {
        proxy.delay(SLOW);
    }
    for _ in 0..5 {
        api.start("waiting").await;
    }
    api.reaches("waiting", "Suspended", 5).await;
    // Only an instance that is there already needs a lease.
    let (status, body) = api.post("/events/go/trigger", &json!({})).await;
    assert!((200..300).contains(&status), "{status} {body}");
    api.reaches("waiting", "Finished", 5).await;
    for alert in ["StaunchNatsSlow", "StaunchDatabaseSlow", "StaunchLeasesSlow"] {
        fires(&prometheus, alert).await;
    }
    for proxy in [&nats, &database] {
        proxy.delay(Duration::ZERO);
    }

    timers_wait(&mut cluster, timing, &api, &prometheus).await;

    postgres.kill().unwrap();
    eventually("more than one answer of twenty is an error", PATIENCE, async || {
        let dispatch = "/workflow-definitions/quick/dispatch";
        let (status, body) = api.post(dispatch, &json!({})).await;
        assert_eq!(status, 503, "{body}");
        prometheus.firing().await.iter().any(|name| name == "StaunchHttpErrors")
    })
    .await;
    println!("StaunchHttpErrors fired");
    postgres.restart().await.unwrap();
    eventually("it is ready again", PATIENCE, async || api.status("/health/ready").await == 200)
        .await;

    let client = async_nats::connect(cluster.nats_url()).await.unwrap();
    let run = async |statement| postgres.run(statement).await.unwrap();
    messages_stay(&client, run, &api, &prometheus).await;

    let counting = counts(&[&api, &timer_figures, &odd_figures]).await;
    cluster.node_mut(counting).kill().unwrap();
    fires(&prometheus, "StaunchNobodyCounts").await;
    for number in 0..3 {
        if number != counting {
            cluster.node_mut(number).kill().unwrap();
        }
    }
    fires(&prometheus, "StaunchNoNode").await;
}
