//! A server with TLS, and the command line as its client; and a system without any authorities.

use cluster::{Cluster, NodePlan, Plan};
use rcgen::{CertificateParams, KeyPair};
use serde_json::json;
use testkit::within;

use crate::dev::{Dev, SOON};
use crate::{TURN, command, staunch, stderr};

#[tokio::test]
async fn the_command_line_reaches_a_server_whose_certificate_it_trusts() {
    let folder = tempfile::tempdir().unwrap();
    let pair = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let cert = folder.path().join("cert.pem");
    std::fs::write(&cert, own.self_signed(&pair).unwrap().pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), pair.serialize_pem()).unwrap();
    let arguments = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let dev = Dev::start_with(folder.path(), &arguments).await;
    assert!(dev.url.starts_with("https://"), "{}", dev.url);
    let list = async |trusted: bool| {
        let mut list = command(&["workflow", "ls", "--server", &dev.url]);
        list.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
        if trusted {
            list.env("SSL_CERT_FILE", &cert);
        }
        within("the list", SOON, list.output()).await.unwrap()
    };
    let listed = list(true).await;
    assert!(listed.status.success(), "{}", stderr(&listed));
    let refused = list(false).await;
    assert!(!refused.status.success(), "a certificate of nobody is not trusted");
    assert!(stderr(&refused).contains("certificate"), "{}", stderr(&refused));
    dev.end().await;
}

/// As in a container image without the package `ca-certificates`.
const BARE: [(&str, &str); 2] = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nowhere")];

#[tokio::test]
async fn a_system_without_authorities_calls_plain_http_and_trusts_the_bundled_ones() {
    let _turn = TURN.acquire().await.unwrap();
    let mut plan = NodePlan::new("bare", "all");
    plan.environment = BARE.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    plan.arguments = vec!["--allow-private-addresses".to_owned()];
    let plan = Plan { nodes: vec![plan], ..Plan::new(staunch()) };
    let cluster = Cluster::start(plan).await.unwrap();
    let url = cluster.nodes()[0].url();
    let definition = json!({"definitionId": "calls", "root": {"type": "Elsa.SendHttpRequest",
        "id": "call", "url": format!("{url}/health/live")}});
    let file = cluster.folder().join("calls.json");
    std::fs::write(&file, definition.to_string()).unwrap();
    let run = async |arguments: &[&str]| {
        let mut command = command(&[arguments, &["--server", &url]].concat());
        let output = within("a command", SOON, command.envs(BARE).output()).await.unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["apply", "-f", file.to_str().unwrap()]).await;
    let ran = run(&["run", "calls", "--wait", "-o", "json"]).await;
    assert!(ran.contains("Finished"), "{ran}");
    let said = cluster.nodes()[0].said();
    assert!(said.contains("trust the bundled ones"), "{said}");
    cluster.stop().await.unwrap();
}
