//! Payloads outside of the database: in a folder, in NATS, and in an S3-compatible store.

use std::path::Path;

use crate::dev::Dev;
use crate::retention::s3;
use crate::{json, run_in, stderr};

/// More than one part, and no number of whole parts.
const BYTES: usize = 700_001;

fn bytes(seed: usize) -> Vec<u8> {
    (0..BYTES).map(|at| ((at + seed) % 251) as u8).collect()
}

/// Keeps a file, and returns the name of the payload.
async fn put(here: &Path, dev: &Dev, seed: usize) -> String {
    std::fs::write(here.join("in.bin"), bytes(seed)).unwrap();
    let put = run_in(here, &["payload", "put", "in.bin", "--server", &dev.url, "-o", "json"]).await;
    assert!(put.status.success(), "{}", stderr(&put));
    json(&put)["payload"].as_str().unwrap().to_owned()
}

async fn is_read(here: &Path, dev: &Dev, name: &str, seed: usize) {
    let got = run_in(here, &["payload", "get", name, "--server", &dev.url]).await;
    assert!(got.status.success(), "{}", stderr(&got));
    assert!(got.stdout == bytes(seed), "the bytes are those that were kept");
}

fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let count = |entry: &std::fs::DirEntry| match entry.path().is_dir() {
        true => files(&entry.path()),
        false => 1,
    };
    entries.map_or(0, |entries| entries.iter().map(count).sum())
}

#[tokio::test]
async fn payloads_rest_where_the_setting_says_and_stay_readable_when_it_changes() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let dev = Dev::start(here).await;
    let in_database = put(here, &dev, 1).await;
    dev.end().await;

    let dev = Dev::start_with(here, &["--payload-store", "parts"]).await;
    let in_folder = put(here, &dev, 2).await;
    assert_eq!(files(&here.join("parts")), 3);
    is_read(here, &dev, &in_database, 1).await;
    is_read(here, &dev, &in_folder, 2).await;
    dev.end().await;

    let dev = Dev::start_with(here, &["--payload-store", "nats,parts"]).await;
    let in_nats = put(here, &dev, 3).await;
    assert_eq!(files(&here.join("parts")), 3);
    for (name, seed) in [(&in_database, 1), (&in_folder, 2), (&in_nats, 3)] {
        is_read(here, &dev, name, seed).await;
    }
    dev.end().await;

    let dev = Dev::start(here).await;
    is_read(here, &dev, &in_database, 1).await;
    let got = run_in(here, &["payload", "get", &in_nats, "--server", &dev.url]).await;
    assert!(!got.status.success());
    let said = stderr(&got);
    assert!(said.contains("add this place to the setting payload-store"), "{said}");
    dev.end().await;
}

#[tokio::test]
async fn payloads_may_rest_in_an_s3_compatible_store() {
    let Some((mut server, guard, endpoint)) = s3().await else { return };
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "somebody"),
        ("AWS_SECRET_ACCESS_KEY", "a secret of S3"),
        ("AWS_REGION", "us-east-1"),
        ("NO_PROXY", "127.0.0.1"),
    ];
    let place = ["--payload-store", "s3://cellar/below/it/"];
    let dev = Dev::start_within(here, &place, &variables).await;
    let name = put(here, &dev, 1).await;
    // The same bytes again leave nothing behind.
    assert_eq!(put(here, &dev, 1).await, name);
    is_read(here, &dev, &name, 1).await;
    let listed = crate::retention::plain()
        .get(format!("{endpoint}/cellar?list-type=2&prefix=below/it/"))
        .send()
        .await
        .unwrap();
    let listed = listed.text().await.unwrap();
    assert_eq!(listed.matches("<Key>").count(), 3, "{listed}");

    // While S3 is away it says so, and small things go on.
    server.kill().await.unwrap();
    guard.dismiss();
    let got = run_in(here, &["payload", "get", &name, "--server", &dev.url]).await;
    assert!(!got.status.success());
    assert!(run_in(here, &["workflow", "ls", "--server", &dev.url]).await.status.success());
    dev.end().await;
}

#[tokio::test]
async fn the_doctor_tries_the_place_of_payloads() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let dev = Dev::start(here).await;
    let nats = testkit::nats().await;
    let nats_url = nats.url();
    let examine = async |place: &str| {
        let at = ["--nats-url", nats_url.as_str(), "--server", dev.url.as_str()];
        let arguments = [&["doctor", "--payload-store", place][..], &at].concat();
        String::from_utf8_lossy(&run_in(here, &arguments).await.stdout).into_owned()
    };
    let said = examine("parts").await;
    assert!(said.contains("payloads can be written to parts, and read"), "{said}");
    assert_eq!(files(&here.join("parts")), 0, "it leaves nothing behind");
    let said = examine("nats").await;
    assert!(said.contains("payloads cannot be written to nats"), "{said}");
    assert!(said.contains("staunch provision"), "{said}");
    dev.end().await;
}
