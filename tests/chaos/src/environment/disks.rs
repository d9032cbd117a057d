//! Disks that are full: SQLite's, PostgreSQL's, and that of NATS.

use cluster::{Database, Plan};
use testkit::eventually;

use super::load::{Load, SEEN_MAX, ready, unready};
use super::root::{SmallDisk, is_root};
use crate::world::{World, all_roles};

/// MiB of a disk on which a store has room to begin with.
const SQLITE: u32 = 32;
const NATS: u32 = 64;
const POSTGRES: u32 = 192;

/// G1, G2, G11: the disk of SQLite is full. The node takes no work until there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_sqlite_stops_work_until_there_is_room_g1_g2_g11() {
    if !is_root("a full disk") {
        return;
    }
    let disk = SmallDisk::new(SQLITE);
    let world = World::start_on(testkit::sqlite_url(disk.folder()), vec![all_roles("node")]).await;
    let load = Load::begin(&world, "sqlite-disk", &[0]).await;
    load.progress(10).await;
    disk.fill();
    unready(&world, 0, "full").await;
    let refused = world.api(0).start_async("voyage-sqlite-disk", "refused", 0).await.unwrap();
    println!("a start meanwhile: {} {}", refused.status, refused.body);
    assert!(refused.status >= 500, "{refused:?}");
    disk.make_room();
    ready(&world, 0).await;
    load.progress(10).await;
    load.end(&world, "a full disk of SQLite").await;
    drop(world);
}

/// G1, G2, G5, G11: the disk of PostgreSQL is full, that of its write-ahead log, too: the server
/// stops. It is started again when there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_postgres_stops_work_until_there_is_room_g1_g2_g5_g11() {
    if !is_root("a full disk") {
        return;
    }
    let Some(mut server) = testkit::own_postgres(true).await else { return };
    server.create("staunch").await.unwrap();
    server.stop().await.unwrap();
    let disk = SmallDisk::over(&server.directory().join("data"), POSTGRES);
    server.restart().await.unwrap();
    let world = World::start_on(server.url("staunch"), vec![all_roles("node")]).await;
    let load = Load::begin(&world, "postgres-disk", &[0]).await;
    load.progress(10).await;
    disk.fill();
    unready(&world, 0, "database").await;
    disk.make_room();
    // As its supervisor does; it may have ended by itself.
    server.restart().await.unwrap();
    ready(&world, 0).await;
    load.progress(10).await;
    load.end(&world, "a full disk of PostgreSQL").await;
    drop(world);
    server.stop().await.unwrap();
}

/// G1, G2, G11: the disk of NATS is full. HTTP takes no starts; when there is room and the server
/// was started again, everything that was accepted is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_nats_stops_work_until_there_is_room_g1_g2_g11() {
    if !is_root("a full disk") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("nats-1");
    std::fs::create_dir(&store).unwrap();
    let disk = SmallDisk::over(&store, NATS);
    let change = |plan: &mut Plan| {
        plan.folder = Some(folder.path().to_owned());
        plan.database = Database::Postgres { durable: true };
        plan.nodes = vec![all_roles("node")];
    };
    let Some(mut world) = World::planned(change).await else { return };
    let load = Load::begin(&world, "nats-disk", &[0]).await;
    load.progress(10).await;
    disk.fill();
    unready(&world, 0, "nats").await;
    disk.make_room();
    let broker = &mut world.cluster.brokers_mut().servers()[0];
    broker.kill().unwrap();
    broker.restart().await.unwrap();
    ready(&world, 0).await;
    load.progress(10).await;
    load.end(&world, "a full disk of NATS").await;
    let is_ready = async || world.cluster.nodes()[0].is_healthy().await;
    eventually("the node stays ready", SEEN_MAX, is_ready).await;
    drop(world);
}
