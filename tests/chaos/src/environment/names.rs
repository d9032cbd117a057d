//! The names of NATS and of the database get other addresses.

use std::path::Path;

use cluster::NodePlan;
use testkit::{Proxy, free_port};

use super::far::place;
use super::load::{Load, ready, said};
use super::root::is_root;
use crate::world::{World, all_roles};

const OLD: &str = "127.0.0.2";
const NEW: &str = "127.0.0.3";

/// G1, G2, G11: NATS and the database move to other addresses under their old names. The node
/// follows when its connections break, and keeps no old address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_follows_names_to_other_addresses_g1_g2_g11() {
    if !is_root("names that change") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    let point = |hosts: &Path, address: &str| {
        let names = format!("127.0.0.1 localhost\n{address} nats.test database.test\n");
        // In place: the mount is of this file.
        std::fs::write(hosts, names).unwrap();
    };
    point(&hosts, OLD);
    let Some(mut world) = World::start(1, Vec::new()).await else { return };
    let nats = world.cluster.nats_url().trim_start_matches("nats://").to_owned();
    let database = place(world.cluster.database_url());
    let ports = (free_port(), free_port());
    let ways = async |address: &str| {
        let nats = Proxy::at(&format!("{address}:{}", ports.0), &nats).await;
        (nats, Proxy::at(&format!("{address}:{}", ports.1), &database).await)
    };
    let old = ways(OLD).await;
    let own_hosts = format!("mount --bind {} /etc/hosts && exec \"$0\" \"$@\"", hosts.display());
    let under = ["unshare", "--mount", "sh", "-c", &own_hosts].map(str::to_owned).to_vec();
    let plan = NodePlan {
        under,
        nats_url: Some(format!("nats://nats.test:{}", ports.0)),
        database_url: Some(format!("postgres://postgres@database.test:{}/staunch", ports.1)),
        ..all_roles("follows")
    };
    world.cluster.add(plan).await.unwrap();
    let load = Load::begin(&world, "names", &[0]).await;
    load.progress(10).await;
    let new = ways(NEW).await;
    point(&hosts, NEW);
    drop(old);
    said(&world, 0, &["the connection to NATS is lost"]).await;
    ready(&world, 0).await;
    let took = load.progress(10).await;
    println!("10 voyages were over {took:.1?} after the names had moved");
    load.end(&world, "names that move").await;
    drop(new);
}
