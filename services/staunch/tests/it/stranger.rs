//! A node whose database belongs to another cluster stays out, and says why.

use cluster::{Cluster, Plan};
use testkit::{eventually, sqlite_url};

use crate::dev::SOON;
use crate::{TURN, run_in, staunch, stderr};

#[tokio::test]
async fn a_second_database_behind_one_nats_stays_out_until_it_is_claimed() {
    let _turn = TURN.acquire().await.unwrap();
    let mut cluster = Cluster::start(Plan::new(staunch()).with_nodes(1)).await.unwrap();
    let other = tempfile::tempdir().unwrap();
    let (nats, database) = (cluster.nats_url(), sqlite_url(other.path()));
    let at = ["--nats-url", &nats, "--database-url", &database];
    let server = ["server", "--role", "executor", "--provision"];
    let refused = run_in(other.path(), &[&server[..], &at].concat()).await;
    assert!(!refused.status.success());
    let said = stderr(&refused);
    assert!(said.contains("another cluster") && said.contains("provision --claim"), "{said}");
    assert!(cluster.nodes()[0].is_ready().await, "the first one goes on");
    cluster.node_mut(0).restart().await.unwrap();

    let claimed = run_in(other.path(), &[&["provision", "--claim"][..], &at].concat()).await;
    assert!(claimed.status.success(), "{}", stderr(&claimed));
    assert!(stderr(&claimed).contains("instead of"), "{}", stderr(&claimed));
    eventually("the node that has become a stranger ends", SOON, async || {
        !cluster.node_mut(0).is_running()
    })
    .await;
    let said = cluster.nodes()[0].said();
    assert!(said.contains("another cluster"), "{said}");
}
