//! Streams and buckets are kept where they were placed.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::collections::BTreeSet;
use std::time::Duration;

use bus::{Bucket, Bus as _};
use bus_nats::{Options, Placement, connect};
use testkit::{TestNats, eventually, free_port, nats_cluster, nats_with};

/// Two clusters of one server each, joined by gateways.
async fn supercluster() -> [TestNats; 2] {
    let gateways = [free_port(), free_port()];
    let folder = tempfile::tempdir().unwrap();
    let start = async |number: usize| {
        let (name, route) = (["east", "west"][number], free_port());
        let others = format!(
            "[{{name: east, url: \"nats://127.0.0.1:{}\"}}, {{name: west, url: \"nats://127.0.0.1:{}\"}}]",
            gateways[0], gateways[1]
        );
        let text = format!(
            "server_name: {name}\nserver_tags: [\"region:{name}\"]\n\
             jetstream {{ max_file_store: 1TB }}\n\
             cluster {{ name: {name}, listen: \"127.0.0.1:{route}\", \
             routes: [\"nats://127.0.0.1:{route}\"] }}\n\
             gateway {{ name: {name}, listen: \"127.0.0.1:{}\", gateways: {others} }}\n",
            gateways[number]
        );
        let file = folder.path().join(format!("{name}.conf"));
        std::fs::write(&file, text).unwrap();
        nats_with(|options| options.config = Some(file)).await
    };
    [start(0).await, start(1).await]
}

#[tokio::test]
async fn everything_is_kept_in_the_cluster_that_was_named_and_stays_there() {
    let [east, _west] = supercluster().await;
    let bus = connect(Options::new(east.url())).await.unwrap();
    let clusters = async || {
        let streams = bus.status().await.unwrap().streams;
        let clusters = streams.into_iter().map(|stream| stream.cluster.unwrap_or_default());
        let mut clusters: Vec<_> = clusters.collect();
        clusters.dedup();
        clusters
    };
    let cluster = Some("west".to_owned());
    bus.provision(Placement { cluster, ..Placement::from(1) }).await.unwrap();
    assert_eq!(clusters().await, ["west"]);

    // A later call that says nothing of a place, such as that of an upgrade, moves nothing.
    bus.provision(1).await.unwrap();
    assert_eq!(clusters().await, ["west"]);
    bus.verify().await.unwrap();

    let tags = vec!["region:south".to_owned()];
    let nowhere = bus.provision(Placement { tags, ..Placement::from(1) }).await;
    let error = nowhere.unwrap_err().to_string();
    assert!(error.contains("no suitable peers") && error.contains("look at --cluster"), "{error}");
}

#[tokio::test]
async fn copies_stay_as_they_are_where_nothing_is_said_of_them() {
    let cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let options = Options { keep_provisioned: true, ..Options::new(urls.join(",")) };
    let bus = connect(options).await.unwrap();
    bus.provision(3).await.unwrap();
    let client = async_nats::connect(urls.as_slice()).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let copies = async || {
        let streams = bus.status().await.unwrap().streams.into_iter();
        let copies: BTreeSet<_> = streams.map(|stream| stream.replicas).collect();
        copies.into_iter().collect::<Vec<_>>()
    };
    context.delete_stream("KV_staunch_definitions").await.unwrap();
    context.delete_stream("STAUNCH_DEAD").await.unwrap();
    bus.provision(Placement::default()).await.unwrap();
    assert_eq!(copies().await, [3]);
    // A node that finds a stream gone makes it again with as many.
    context.delete_stream("KV_staunch_timers").await.unwrap();
    let kv = bus.kv(Bucket::Timers);
    eventually("it is there again", Duration::from_secs(30), async || kv.get("x").await.is_ok())
        .await;
    assert_eq!(copies().await, [3]);
    bus.provision(1).await.unwrap();
    assert_eq!(copies().await, [1]);
}
