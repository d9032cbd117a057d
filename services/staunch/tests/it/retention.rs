//! Retention and the archive as an operator uses them.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use model::{Instance, InstanceId, SubStatus, Timestamp};
use serde_json::{Value, json as value};
use store::{Burst, Expected, Instances as _, Loaded, Store as _};
use testkit::{Guard, eventually, free_port, within};

use crate::dev::{Dev, SOON};
use crate::identity::{folder, refused};
use crate::{COMMAND_MAX, command, json, run_in, stderr};

const DAY: Duration = Duration::from_secs(86_400);
const KEPT: [&str; 4] = ["--retain-finished", "30d", "-o", "json"];

async fn store(folder: &Path, file: &str) -> store_sql::SqlStore {
    let url = format!("sqlite://{}", folder.join(file).display());
    store_sql::connect(&url, store_sql::Options::default()).await.unwrap()
}

/// The instance ended this long ago.
async fn aged(store: &store_sql::SqlStore, id: &str, age: Duration) {
    let Loaded { instance, .. } = store.load(&id.into()).await.unwrap().unwrap();
    assert_eq!(instance.status, SubStatus::Finished);
    let (version, ended) = (instance.version, testkit::now().before(age));
    let aged =
        Instance { version: version + 1, updated_at: ended, finished_at: Some(ended), ..instance };
    store.commit(Burst::new(aged, Expected::Version(version))).await.unwrap();
}

/// An instance that ended this long ago, without a server.
async fn ended(store: &store_sql::SqlStore, id: &str, age: Duration) {
    let at: Timestamp = testkit::now().before(age);
    let new = Instance::new(InstanceId::new(id), "order".into(), "order-1".into(), 1, at);
    let instance =
        Instance { version: 1, status: SubStatus::Finished, finished_at: Some(at), ..new };
    store.commit(Burst::new(instance, Expected::Absent)).await.unwrap();
}

#[tokio::test]
async fn an_instance_is_archived_after_its_time_and_taken_back() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let dev = Dev::start(here).await;
    let ask = async |arguments: &[&str]| {
        run_in(here, &[arguments, &["-o", "json", "--server", &dev.url]].concat()).await
    };
    let order = value!({"definitionId": "order", "name": "order",
        "root": {"type": "WriteLine", "id": "line", "text": "hello"}});
    std::fs::write(here.join("order.json"), order.to_string()).unwrap();
    assert!(ask(&["apply", "-f", "order.json"]).await.status.success());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let started = json(&ask(&["run", "order", "--wait"]).await);
        ids.push(started["id"].as_str().unwrap().to_owned());
    }
    let (old, young) = (ids[0].as_str(), ids[1].as_str());
    let store = store(here, "data/staunch.db").await;
    aged(&store, old, 31 * DAY).await;
    let before = json(&ask(&["instance", "export", old]).await);

    let offline = ["--database-url", "sqlite://data/staunch.db", "--archive-to", "archive"];
    let run = async |arguments: &[&str]| run_in(here, &[arguments, &offline, &KEPT].concat()).await;
    let dry = json(&run(&["retention", "run", "--dry-run"]).await);
    let group = &dry["groups"][0];
    assert_eq!((&group["instances"], &group["ids"]), (&value!(1), &value!([old])), "{dry}");
    assert_eq!((&group["then"], &group["kept"]), (&value!("archive"), &value!("30.00:00:00")));
    assert!(ask(&["instance", "get", old]).await.status.success(), "a dry run removes nothing");
    let done = json(&run(&["retention", "run"]).await);
    assert_eq!(done["groups"][0]["archived"], 1, "{done}");
    assert_eq!(ask(&["instance", "get", old]).await.status.code(), Some(3));
    assert!(ask(&["instance", "get", young]).await.status.success());

    let listed = json(&run(&["archive", "ls"]).await);
    assert_eq!(listed[0]["instances"][0]["id"], old, "{listed}");
    assert_eq!(json(&run(&["archive", "ls", "--definition", "paint"]).await), value!([]));
    let line = json(&run(&["archive", "cat", listed[0]["file"].as_str().unwrap()]).await);
    let archived = json(&run(&["archive", "get", old]).await);
    assert_eq!(archived, line);
    assert_eq!(archived, before, "the archive has what an export has");
    refused(&run(&["archive", "get", "nobody"]).await, 3, "the archive has no instance nobody");
    refused(&run_in(here, &["archive", "ls"]).await, 2, "--archive-to");

    std::fs::write(here.join("archived.json"), archived.to_string()).unwrap();
    let back = ask(&["instance", "import", "archived.json"]).await;
    assert!(back.status.success(), "{}", stderr(&back));
    let again = json(&ask(&["instance", "get", old]).await);
    assert_eq!(again["subStatus"], "Finished", "{again}");
    let none = json(&run(&["retention", "run"]).await);
    assert_eq!(none["groups"], value!([]), "its time has begun anew");
    store.close().await;
    dev.end().await;
}

#[tokio::test]
async fn nothing_is_removed_that_was_not_configured() {
    let here = folder().await;
    let here = here.path();
    let store = store(here, "users.db").await;
    ended(&store, "old", 4_000 * DAY).await;
    let run = async |more: &[&str]| {
        let base = ["retention", "run", "--database-url", "sqlite://users.db", "-o", "json"];
        run_in(here, &[&base[..], more].concat()).await
    };
    let none = json(&run(&[]).await);
    assert_eq!((&none["groups"], &none["others"]), (&value!([]), &value!({})));
    refused(&run(&["--retain-finished", "59m"]).await, 2, "at least 1h");
    refused(&run(&["--archive-to", "gs://bucket"]).await, 2, "use a folder, or s3://");
    let one = json(&run(&["--retain-finished", "1h"]).await);
    assert_eq!(
        (&one["groups"][0]["instances"], &one["groups"][0]["then"]),
        (&value!(1), &value!("delete"))
    );
    assert!(store.load(&"old".into()).await.unwrap().is_none());
    store.close().await;
}

/// A server that speaks S3, from PyPI; `None` if there is none.
pub(crate) async fn s3() -> Option<(tokio::process::Child, Guard, String)> {
    let moto = testkit::pip("moto[server]", "5.2.4")?;
    let port = free_port();
    let mut server = tokio::process::Command::new("python3");
    let serve = "from moto.server import main; import sys; main(sys.argv[1:])";
    server.args(["-c", serve, "-H", "127.0.0.1", "-p", &port.to_string()]);
    server.env("PYTHONPATH", moto).kill_on_drop(true);
    server.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let child = server.spawn().unwrap();
    let guard = Guard::watch(child.id().unwrap(), "KILL", None).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    eventually("S3 answers", SOON, async || {
        let client = plain();
        client
            .put(format!("{url}/cellar"))
            .send()
            .await
            .is_ok_and(|sent| sent.status().is_success())
    })
    .await;
    Some((child, guard, url))
}

pub(crate) fn plain() -> reqwest::Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn the_archive_may_be_in_an_s3_compatible_store() {
    let Some((mut server, guard, endpoint)) = s3().await else { return };
    let here = folder().await;
    let here = here.path();
    let store = store(here, "users.db").await;
    for number in 0..150 {
        ended(&store, &format!("i{number:03}"), 31 * DAY).await;
    }
    let run = async |arguments: &[&str]| -> Output {
        let place = ["--database-url", "sqlite://users.db", "--archive-to", "s3://cellar/below/it"];
        let mut command = command(&[arguments, &place, &KEPT].concat());
        command.current_dir(here).env("AWS_ENDPOINT_URL", &endpoint).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", "somebody").env("AWS_SECRET_ACCESS_KEY", "a secret of S3");
        command.env("AWS_REGION", "us-east-1").env("NO_PROXY", "127.0.0.1");
        within("the end of the command", COMMAND_MAX, command.output()).await.unwrap()
    };
    let done = json(&run(&["retention", "run"]).await);
    let group = &done["groups"][0];
    assert_eq!((&group["archived"], &group["instances"]), (&value!(150), &value!(150)), "{done}");
    let listed = json(&run(&["archive", "ls"]).await);
    let files = listed.as_array().unwrap();
    let held: usize = files.iter().map(|file| file["instances"].as_array().unwrap().len()).sum();
    assert_eq!((files.len(), held), (2, 150), "{listed}");
    let line: Value = json(&run(&["archive", "get", "i149"]).await);
    assert_eq!(line["instance"]["id"], "i149");

    // While S3 is away nothing is removed.
    ended(&store, "late", 31 * DAY).await;
    server.kill().await.unwrap();
    guard.dismiss();
    refused(&run(&["retention", "run"]).await, 1, "the archive is not available");
    assert!(store.load(&"late".into()).await.unwrap().is_some());
    store.close().await;
}
