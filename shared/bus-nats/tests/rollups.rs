//! Roll-ups: messages that remove others. Permissions do not see headers, so a bucket into which users of
//! other accounts write takes none.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use async_nats::{Client, HeaderMap};
use bus::{Bucket, Bus as _, Change, Put};
use bus_nats::{Options, Topology, connect};
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::{nats, nonces, within};

const SOON: std::time::Duration = std::time::Duration::from_secs(30);
/// "rollup not permitted".
const REFUSED: u64 = 10111;

async fn ask(client: &Client, subject: &str, headers: HeaderMap, body: &str) -> Value {
    let sent = client.request_with_headers(subject.to_owned(), headers, body.to_owned().into());
    serde_json::from_slice(&within("an answer", SOON, sent).await.unwrap().payload).unwrap()
}

/// A bucket of an earlier release takes them, until it is provisioned again.
#[tokio::test]
async fn one_activity_type_removes_no_other_by_a_roll_up() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let name = "name = \"staunch_activities\"\n";
    let text = include_str!("../../../nats/topology.toml");
    let earlier = text.replace(name, &format!("{name}marker_seconds = 10\n"));
    bus.provision_as(&Topology::parse(&earlier).unwrap(), &1.into()).await.unwrap();
    let different = bus.verify().await.unwrap_err().to_string();
    for part in [
        "bucket staunch_activities has allow_rollup_hdrs = true, expected false",
        "subject_delete_marker_ttl = 10000000000, expected 0",
        "staunch provision",
    ] {
        assert!(different.contains(part), "{different}");
    }
    let seen = bus.inspect(&[]).await.unwrap().streams;
    let seen = seen.iter().find(|stream| stream.name == "KV_staunch_activities").unwrap();
    assert!(seen.faults[0].contains("allow_rollup_hdrs = true"), "{:?}", seen.faults);

    let client = async_nats::connect(server.url()).await.unwrap();
    let key = |key: &str| format!("$KV.staunch_activities.{key}");
    for other in ["Pay.1", "upper.1", "Ship.1"] {
        let stored = ask(&client, &key(other), HeaderMap::new(), "{}").await;
        assert!(stored["seq"].is_u64(), "{stored}");
    }
    bus.provision(1).await.unwrap();
    bus.verify().await.unwrap();
    let info = ask(&client, "$JS.API.STREAM.INFO.KV_staunch_activities", HeaderMap::new(), "");
    let config = info.await["config"].clone();
    assert_eq!(config["allow_rollup_hdrs"], false, "{config}");

    for extent in ["all", "sub"] {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Rollup", extent);
        let answer = ask(&client, &key("Ship.1"), headers, "{}").await;
        assert_eq!(answer["error"]["err_code"], REFUSED, "{answer}");
    }
    let kv = bus.kv(Bucket::Activities);
    let keys = async || {
        let entries = kv.entries().await.unwrap();
        entries.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    let mut found = keys().await;
    found.sort();
    assert_eq!(found, ["Pay.1", "Ship.1", "upper.1"]);

    // Types are still removed, and those who watch see it.
    let mut watch = kv.watch().await.unwrap();
    within("the snapshot", SOON, async { while watch.next().await.unwrap() != Change::Synced {} })
        .await;
    let at = kv.get("upper.1").await.unwrap().unwrap().revision;
    let removed = kv.purge_if("upper.1", at, &nonces()()).await.unwrap();
    assert!(matches!(removed, Put::Won(_)), "{removed:?}");
    let mut found = keys().await;
    found.sort();
    assert_eq!(found, ["Pay.1", "Ship.1"]);
    within("the removal", SOON, async {
        loop {
            let change = watch.next().await.unwrap();
            if matches!(change, Change::Set { ref key, value: None, .. } if key == "upper.1") {
                break;
            }
        }
    })
    .await;
    let left = kv.get("upper.1").await.unwrap().unwrap();
    assert_eq!(left.value, None, "its tombstone stays");
    let again = kv.put_if("upper.1", "{}".into(), left.revision, None, &nonces()()).await;
    assert!(matches!(again, Ok(Put::Won(_))), "{again:?}");
}

/// Why the bucket has no markers: the server would take roll-ups, whatever is asked for.
#[tokio::test]
async fn a_bucket_with_markers_takes_roll_ups() {
    let server = nats().await;
    let client = async_nats::connect(server.url()).await.unwrap();
    let make = async |name: &str, marker: u64| {
        let config = json!({"name": name, "subjects": [format!("{name}.>")], "storage": "memory",
            "max_msgs_per_subject": 1, "allow_rollup_hdrs": false, "allow_msg_ttl": true,
            "subject_delete_marker_ttl": marker});
        let subject = format!("$JS.API.STREAM.CREATE.{name}");
        let made = ask(&client, &subject, HeaderMap::new(), &config.to_string()).await;
        made["config"]["allow_rollup_hdrs"].clone()
    };
    assert_eq!(make("WITH", 10_000_000_000).await, true);
    assert_eq!(make("WITHOUT", 0).await, false);
}
