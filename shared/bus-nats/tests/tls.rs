//! Encryption, on a server that requires it.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use bus::Queue as _;
use bus_nats::{Options, Tls, connect};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use testkit::{eventually, nats, nats_with};

/// An authority whose certificate is in `<name>.pem`.
fn authority(folder: &Path, name: &str) -> Issuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    std::fs::write(folder.join(name), params.self_signed(&key).unwrap().pem()).unwrap();
    Issuer::new(params, key)
}

/// A certificate and its key for this host, in files.
fn signed(folder: &Path, name: &str, issuer: &Issuer<'_, KeyPair>) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let (cert, path) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    std::fs::write(&cert, params.signed_by(&key, issuer).unwrap().pem()).unwrap();
    std::fs::write(&path, key.serialize_pem()).unwrap();
    (cert, path)
}

#[tokio::test]
async fn a_connection_is_encrypted_and_both_sides_show_certificates() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let (ours, theirs) = (authority(folder, "ca.pem"), authority(folder, "other.pem"));
    let (cert, key) = signed(folder, "server", &ours);
    let client = signed(folder, "client", &ours);
    let stranger = signed(folder, "stranger", &theirs);
    let configuration = format!(
        "tls {{ cert_file: {cert:?}, key_file: {key:?}, ca_file: {:?}, verify: true }}",
        folder.join("ca.pem")
    );
    let path = folder.join("server.conf");
    std::fs::write(&path, configuration).unwrap();
    let server = nats_with(|options| options.config = Some(path)).await;
    let options = |scheme: &str, ca: Option<&str>, identity: Option<&(PathBuf, PathBuf)>| {
        let url = server.url().replace("nats://", scheme);
        let ca = ca.map(|name| folder.join(name));
        let tls = Tls { is_required: ca.is_some(), ca, identity: identity.cloned() };
        Options { tls, connect_max: Duration::from_secs(3), ..Options::new(url) }
    };
    for scheme in ["tls://", "nats://"] {
        let bus = connect(options(scheme, Some("ca.pem"), Some(&client))).await.unwrap();
        bus.provision(1).await.unwrap();
        bus.verify().await.unwrap();
        bus.close().await;
    }
    for (ca, identity) in [
        (None, Some(&client)),
        (Some("other.pem"), Some(&client)),
        (Some("ca.pem"), None),
        (Some("ca.pem"), Some(&stranger)),
    ] {
        let refused = connect(options("tls://", ca, identity)).await.map(drop);
        assert!(refused.is_err(), "{ca:?} {identity:?}");
    }
    let plain = nats().await;
    let options = Options { url: plain.url(), ..options("tls://", Some("ca.pem"), None) };
    let refused = connect(options).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("has no TLS") && !refused.contains("is it running"), "{refused}");
}

#[tokio::test]
async fn a_ping_says_which_certificate_keeps_the_connection_from_being_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let (ours, theirs) = (authority(folder, "ca.pem"), authority(folder, "other.pem"));
    let (cert, key) = signed(folder, "server", &ours);
    let path = folder.join("server.conf");
    std::fs::write(&path, format!("tls {{ cert_file: {cert:?}, key_file: {key:?} }}")).unwrap();
    let mut server = nats_with(|options| options.config = Some(path)).await;
    let tls = Tls { is_required: true, ca: Some(folder.join("ca.pem")), identity: None };
    let url = server.url().replace("nats://", "tls://");
    let bus = connect(Options { tls, ..Options::new(url) }).await.unwrap();
    bus.provision(1).await.unwrap();
    bus.ping().await.unwrap();
    signed(folder, "server", &theirs);
    server.server().restart().await.unwrap();
    eventually("the reason is known", Duration::from_secs(30), async || {
        let error = bus.ping().await.unwrap_err().to_string();
        error.contains("NATS is not reached") && error.contains("certificate")
    })
    .await;
    signed(folder, "server", &ours);
    server.server().restart().await.unwrap();
    let bound = Duration::from_secs(20);
    eventually("the ping succeeds", bound, async || bus.ping().await.is_ok()).await;
    bus.close().await;
}
