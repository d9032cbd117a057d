//! A server with TLS, and the command line as its client.

use rcgen::{CertificateParams, KeyPair};
use testkit::within;

use crate::dev::{Dev, SOON};
use crate::{command, stderr};

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
