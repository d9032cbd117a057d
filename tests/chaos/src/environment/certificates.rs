//! Certificates that expire while they are in use: of NATS, and of the node's own HTTP server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cluster::{Database, Plan};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use reqwest::{Certificate, Client};
use testkit::eventually;
use tokio::time::sleep;

use super::load::{Load, SEEN_MAX, doctor, ready, said};
use crate::world::{World, all_roles};

/// Long enough to start a cluster.
const SHORT: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// An authority, and the files of certificates that it issues.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        std::fs::write(folder.join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder: folder.to_owned() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a certificate and its key for this machine, which expires after this time.
    fn issue(&self, name: &str, lasts: Duration) {
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        let now = Duration::from_millis(testkit::now().as_millis().unsigned_abs());
        params.not_after = date_time_ymd(1970, 1, 1) + (now + lasts);
        let cert = params.signed_by(&key, &self.issuer).unwrap().pem();
        for (end, text) in [("key", key.serialize_pem()), ("pem", cert)] {
            let next = self.file("next");
            std::fs::write(&next, text).unwrap();
            std::fs::rename(next, self.file(&format!("{name}.{end}"))).unwrap();
        }
    }
}

/// G1, G2, G11: certificates expire. Before, metrics and the doctor show it; then it is said why
/// nobody connects; new files mend it without a restart of a node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_that_expire_are_foreseen_named_and_replaced_g1_g2_g11() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    let file = |name: &str| authority.file(name).display().to_string();
    let config = format!(
        "jetstream {{ max_file_store: 1TB }}\nallow_non_tls: true\n\
         tls {{ cert_file: {:?}, key_file: {:?}, handshake_first: false }}\n",
        file("nats.pem"),
        file("nats.key")
    );
    let mut node = all_roles("node");
    node.tls = Some((authority.file("http.pem"), authority.file("http.key")));
    node.arguments.extend(["--nats-ca".to_owned(), file("ca.pem")]);
    let change = |plan: &mut Plan| {
        // Their time begins when the cluster starts, after other tests.
        authority.issue("nats", SHORT);
        authority.issue("http", SHORT);
        plan.broker_config = Some(config);
        plan.database = Database::Postgres { durable: true };
        plan.nodes = vec![node, all_roles("plain")];
    };
    let Some(mut world) = World::planned(change).await else { return };
    let (nats, database) = (world.cluster.nats_url(), world.cluster.database_url().to_owned());
    let (ca, cert, key) = (file("ca.pem"), file("http.pem"), file("http.key"));
    let asked = [
        "--nats-url",
        &nats,
        "--database-url",
        &database,
        "--nats-ca",
        &ca,
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
    ];
    doctor(&world, &asked, &["tls-cert", "expires"]).await;
    let load = Load::begin(&world, "certificates", &[1]).await;
    load.progress(5).await;
    let admin = crate::api::Api::new(&world.cluster.nodes()[0].health_url());
    let expires = admin.metric("staunch_certificate_expires_time_seconds", "tls-cert").await;
    let now = testkit::now().as_millis() as f64 / 1e3;
    println!("the metric says that the certificate expires in {:.0} s", expires - now);
    assert!(expires - now < SHORT.as_secs_f64(), "{expires} {now}");
    // Each is read once more, whatever was cached.
    let root = Certificate::from_pem(&std::fs::read(&ca).unwrap()).unwrap();
    let client = || {
        let builder = Client::builder().no_proxy().tls_certs_only([root.clone()]);
        builder.pool_max_idle_per_host(0).build().unwrap()
    };
    let url = format!("{}/health/live", world.cluster.nodes()[0].url());
    let ask = async || client().get(&url).send().await;
    let mut last = String::new();
    eventually("the certificate has expired", SHORT + SEEN_MAX, async || {
        sleep(Duration::from_millis(100)).await;
        let failed = ask().await.err();
        last = failed.as_ref().map(|error| format!("{error:?}")).unwrap_or_default();
        failed.is_some()
    })
    .await;
    assert!(last.contains("Expired") || last.contains("expired"), "{last}");
    doctor(&world, &asked, &["tls-cert", "expired"]).await;
    // Open connections go on; a new one shows the certificate again.
    load.progress(5).await;
    let broker = &mut world.cluster.brokers_mut().servers()[0];
    broker.kill().unwrap();
    broker.restart().await.unwrap();
    said_of_expiry(&world).await;
    doctor(&world, &asked, &["nats", "xpired"]).await;
    authority.issue("nats", LONG);
    authority.issue("http", LONG);
    let broker = &world.cluster.brokers_mut().servers()[0];
    testkit::signal(broker.pid().unwrap(), "HUP").unwrap();
    ready(&world, 0).await;
    eventually("the new certificate is shown", SEEN_MAX, async || ask().await.is_ok()).await;
    load.progress(5).await;
    load.end(&world, "certificates that expire").await;
}

/// The node with TLS cannot reach NATS, and says why.
async fn said_of_expiry(world: &World) {
    let node = &world.cluster.nodes()[0];
    eventually("the node is not ready", SEEN_MAX, async || !node.is_healthy().await).await;
    said(world, 0, &["NATS", "xpired"]).await;
}
