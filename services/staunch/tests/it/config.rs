//! `staunch config` refuses what a server refuses at its start, for the same reason.

use crate::{run_in, stderr};

/// Settings that each are of no use, with a part of the reason. `empty.pem` is there and has nothing.
const REFUSED: [(&str, &str); 17] = [
    ("--oidc-ca nope.pem", "ingress: oidc-ca nope.pem cannot be used: "),
    ("--oidc-ca empty.pem", "it has no certificate in PEM form"),
    ("--oidc-ca key.pem", "oidc-ca key.pem"),
    ("--tls-cert nope.pem --tls-key key.pem", "ingress: the file nope.pem of tls-cert"),
    ("--tls-cert cert.pem --tls-key nope.pem", "the file nope.pem of tls-key"),
    ("--tls-cert cert.pem --tls-key key.pem --tls-client-ca nope.pem", "nope.pem of tls-client-ca"),
    ("--nats-ca nope.pem", "the file nope.pem of nats-ca"),
    ("--nats-tls-cert cert.pem --nats-tls-key nope.pem", "the file nope.pem of nats-tls-key"),
    ("--nats-creds nope.creds", "the NATS credentials file nope.creds cannot be read"),
    ("--nats-creds empty.pem", "empty.pem is not a NATS credentials file"),
    ("--nats-creds expired.creds", "file expired.creds expired at 2023-11-14T22:13:20"),
    ("--nats-nkey nope.nk", "the NKey seed file nope.nk cannot be read"),
    ("--signing-key-file nope.txt", "ingress: signing-key-file: "),
    ("--admin-name a --admin-password-file nope.txt", "ingress: admin-password-file: "),
    ("--secrets-key-file nope.txt", "ingress: "),
    ("--role executor --secrets-key-file nope.txt", "executor: "),
    ("--role timer --payload-store gs://x", "timer: the payload-store \"gs://x\" fails: "),
];

/// A credentials file whose JWT, of nobody, expired long ago; its seed is all zeros.
const EXPIRED: &str = "-----BEGIN NATS USER JWT-----\n\
    e30.eyJpc3MiOiJBT05FIiwiZXhwIjoxNzAwMDAwMDAwfQ.c2ln\n------END NATS USER JWT------\n\n\
    -----BEGIN USER NKEY SEED-----\n\
    SUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEQ\n------END USER NKEY SEED------\n";

#[tokio::test]
async fn files_that_a_server_refuses_are_refused_by_config_in_the_same_words() {
    let here = tempfile::tempdir().unwrap();
    let pair = rcgen::KeyPair::generate().unwrap();
    let own = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: &str| std::fs::write(here.path().join(name), text).unwrap();
    write("cert.pem", &own.self_signed(&pair).unwrap().pem());
    write("key.pem", &pair.serialize_pem());
    write("empty.pem", "");
    write("expired.creds", EXPIRED);
    let nowhere = format!("nats://127.0.0.1:{}", testkit::free_port());
    let common = [
        "--provision",
        "--nats-url",
        &nowhere,
        "--auth",
        "oidc,identity",
        "--oidc-issuer",
        "https://id.example.com",
        "--oidc-audience",
        "staunch",
    ];
    let run = async |command: &str, settings: &str| {
        let mut line = vec![command];
        line.extend(common);
        line.extend(settings.split(' '));
        if !settings.contains("--database-url") {
            line.extend(["--database-url", "sqlite::memory:"]);
        }
        run_in(here.path(), &line).await
    };
    let postgres = "--database-url postgres://u@127.0.0.1:1/d?sslrootcert=nope.pem";
    let of_postgres = (postgres, "nope.pem of sslrootcert in database-url");
    for (settings, part) in REFUSED.into_iter().chain([of_postgres]) {
        let (config, server) = (run("config", settings).await, run("server", settings).await);
        let (said, reason) = (stderr(&config), stderr(&server));
        let sentence = said.trim().strip_prefix("error: ").unwrap_or_default();
        assert!(sentence.contains(part), "{settings}: {said}");
        assert!(reason.contains(sentence), "{settings}: {sentence:?} is not in: {reason}");
        assert_eq!(config.status.code(), server.status.code(), "{settings}: {said}");
    }
    for settings in [
        "--oidc-ca cert.pem --tls-cert cert.pem --tls-key key.pem --nats-ca cert.pem",
        // What a role does not read is not read here, either.
        "--role timer --oidc-ca nope.pem --signing-key-file nope.txt",
        // A folder is made by a server, and not by a look at its settings.
        "--payload-store parts --archive-to old",
    ] {
        let output = run("config", settings).await;
        assert_eq!(output.status.code(), Some(0), "{settings}: {}", stderr(&output));
    }
    for folder in ["parts", "old"] {
        assert!(!here.path().join(folder).exists(), "{folder}");
    }
}

/// The authorities of an issuer are looked at also where its tokens are not taken.
#[tokio::test]
async fn authorities_of_an_issuer_are_read_whatever_auth_is() {
    let here = tempfile::tempdir().unwrap();
    let nowhere = format!("nats://127.0.0.1:{}", testkit::free_port());
    for command in ["config", "server"] {
        let line = [
            command,
            "--nats-url",
            &nowhere,
            "--database-url",
            "sqlite::memory:",
            "--oidc-ca",
            "nope.pem",
        ];
        let output = run_in(here.path(), &line).await;
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("oidc-ca nope.pem cannot be used: "), "{command}: {said}");
    }
}
