//! Encryption to PostgreSQL, and the check of its certificate.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use store::Store as _;
use store_sql::{Options, connect};

#[tokio::test]
async fn the_certificate_of_the_database_is_checked_in_full() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let authority = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        std::fs::write(path(name), params.self_signed(&key).unwrap().pem()).unwrap();
        Issuer::new(params, key)
    };
    let (ours, _theirs) = (authority("ca.pem"), authority("other.pem"));
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let cert = params.signed_by(&key, &ours).unwrap().pem();
    let Some(server) = testkit::postgres_with_tls(cert, key.serialize_pem()).await else { return };
    server.create("flow").await.unwrap();
    let enter = async |host: &str, query: &str| {
        let url = format!("{}?{query}", server.url("flow").replace("127.0.0.1", host));
        connect(&url, Options { migrate: true, ..Options::default() }).await
    };
    let full = |ca: &str| format!("sslmode=verify-full&sslrootcert={}", path(ca));
    let store = enter("localhost", &full("ca.pem")).await.unwrap();
    store.ping().await.unwrap();
    store.close().await;
    let wrong_name = enter("127.0.0.1", &full("ca.pem")).await.map(drop).unwrap_err();
    let wrong_authority = enter("localhost", &full("other.pem")).await.map(drop).unwrap_err();
    let unknown_authority = enter("localhost", "sslmode=verify-full").await.map(drop).unwrap_err();
    for error in [wrong_name, wrong_authority, unknown_authority] {
        assert!(matches!(error, store::Error::Unavailable(_)), "{error}");
    }
}
