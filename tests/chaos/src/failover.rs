//! The primary of PostgreSQL is lost under load, and its standby takes over.

use postgres_server::{Copy, Server};
use testkit::{Proxy, eventually};
use tokio::time::Instant;

use crate::callee::Callee;
use crate::ledger::{Found, Ledger};
use crate::scale::pick;
use crate::storm::progress;
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles};

const SENDERS: usize = 8;
const NODES: usize = 2;
pub(crate) const DATABASE: &str = "staunch";
/// Every commit waits until the standby has it, too.
const SYNCHRONOUS: &str = "ALTER SYSTEM SET synchronous_standby_names = '*'";
const RELOAD: &str = "SELECT pg_reload_conf()";
const PROMOTE: &str = "SELECT pg_promote()";
/// Fails unless a standby has every commit.
const IS_FOLLOWED: &str = "DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))
    THEN RAISE EXCEPTION 'no standby is synchronous'; END IF; END $$";

/// A primary with an empty database and its standby, and one address for clients, as a failover
/// manager gives them. None if PostgreSQL is not installed.
async fn pair() -> Option<(Server, Server, Proxy)> {
    let primary = testkit::own_postgres(true).await?;
    primary.create(DATABASE).await.unwrap();
    let standby = Server::copy_of(&primary, Copy::Standby).await.unwrap();
    primary.run(SYNCHRONOUS).await.unwrap();
    primary.run(RELOAD).await.unwrap();
    let soon = std::time::Duration::from_secs(30);
    let is_followed = async || primary.run(IS_FOLLOWED).await.is_ok();
    eventually("the standby follows synchronously", soon, is_followed).await;
    let proxy = Proxy::to(&address(&primary)).await;
    Some((primary, standby, proxy))
}

pub(crate) fn address(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port())
}

pub(crate) fn url(proxy: &Proxy) -> String {
    format!("postgres://postgres@{}/{DATABASE}", proxy.address())
}

/// G1, G2, G5: the primary is killed under load and the standby is promoted, again and again. All
/// that was answered is there, and nothing was done twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_and_nothing_that_was_answered_is_lost_g1_g2_g5() {
    let Some((mut primary, mut standby, proxy)) = pair().await else { return };
    let nodes = (0..NODES).map(|number| all_roles(&format!("node-{number}"))).collect();
    let world = World::start_on(url(&proxy), nodes).await;
    let callee = Callee::start().await;
    let names = Names::new("failover");
    for definition in names.voyages(&callee.url) {
        world.api(0).publish(&definition).await;
    }
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let doors = (0..NODES).map(|node| world.api(node)).collect();
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let traffic = Traffic::begin(route, SENDERS);
    progress(&traffic, 20).await;
    let turns = pick(1, 4);
    for turn in 0..turns {
        let struck = Instant::now();
        primary.kill().unwrap();
        standby.run(PROMOTE).await.unwrap();
        // It is the only one now: commits wait for nobody.
        standby.run("ALTER SYSTEM SET synchronous_standby_names = ''").await.unwrap();
        standby.run(RELOAD).await.unwrap();
        proxy.turn_to(&address(&standby));
        progress(&traffic, 20).await;
        println!("G5: 20 voyages are over {:.1?} after the primary was lost", struck.elapsed());
        if turn + 1 == turns {
            break;
        }
        primary = standby;
        standby = Server::copy_of(&primary, Copy::Standby).await.unwrap();
        primary.run(SYNCHRONOUS).await.unwrap();
        primary.run(RELOAD).await.unwrap();
        let soon = std::time::Duration::from_secs(30);
        let is_followed = async || primary.run(IS_FOLLOWED).await.is_ok();
        eventually("the new standby follows synchronously", soon, is_followed).await;
    }
    let accepted = traffic.end().await;
    let ledger = Ledger::new(&world, jetstream, &callee, names);
    ledger.settled(&accepted).await;
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    println!(
        "G1 G2 G5: {turns} failovers, {voyages} voyages accepted, {voyages} finished once; \
         {repeated_calls} outgoing calls repeated; longest pause {:.1?}",
        accepted.longest_pause()
    );
}
