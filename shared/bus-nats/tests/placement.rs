//! Streams and buckets are kept where they were placed.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use bus_nats::{Options, Placement, connect};
use testkit::{TestNats, free_port, nats_with};

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
    assert!(error.contains("no suitable peers"), "{error}");
}
