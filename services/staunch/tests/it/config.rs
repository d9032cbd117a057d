//! `staunch config` refuses what a server refuses at its start, for the same reason.

use crate::{run_in, stderr};

/// Settings that each are of no use, with a part of the reason. `empty.pem` is there and has nothing.
const REFUSED: [(&str, &str); 37] = [
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
    ("--role timer --payload-store empty.pem/a", "empty.pem is no folder"),
    (
        "--archive-to empty.pem",
        "archive-to: archive-to \"empty.pem\" cannot be used: empty.pem is no",
    ),
    ("--log verbose", "log = \"verbose\" from the command line: \"verbose\" is no level"),
    ("--log inof", "did you mean \"info\"?"),
    ("--log executor=loud", "\"loud\" is no level"),
    (
        "--otlp-endpoint localhost:4318",
        "otlp-endpoint = \"localhost:4318\" from the command line: ",
    ),
    ("--otlp-endpoint ftp://x", "must be a URL such as http://localhost:4318"),
    ("--base-url https://", "base-url = \"https://\" from the command line: must be a URL"),
    ("--sql-connections shop=oracle://x", "must be NAME=URL, such as shop=postgres://"),
    ("--sql-connections shop=mysql://h:x/d", "from the command line: the URL of \"shop\": "),
    ("--nats-buckets =a", "\"=a\" has no id before the `=`"),
    ("--smtp-from nobody", "smtp-from = \"nobody\" from the command line: must be an address"),
    (
        "--smtp-url smtp://h:25 --smtp-ca nope.pem",
        "executor: smtp-ca = \"nope.pem\" from the command line: the file cannot be read: No such",
    ),
    (
        "--role executor --files-folder empty.pem",
        "executor: files-folder = \"empty.pem\" from the command line: it is no folder",
    ),
    (
        "--role executer",
        "role = \"executer\" from the command line: there is no role \"executer\": ",
    ),
    ("--api-key short", "api-key = \"***\" from the command line: it has fewer than 32 characters"),
    ("--metrics-key short", "metrics-key = \"***\" from the command line: it has fewer than 32"),
    ("--log =debug", "there is no module before the `=`"),
    (
        "--base-url https://-a.example",
        "base-url = \"https://-a.example\" from the command line: must",
    ),
    ("--listen 127.0.0.1:5001 --admin-listen 127.0.0.1:5001", "both cannot have the port 5001"),
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
        "--role timer --smtp-ca nope.pem --files-folder nope",
        "--log warn,executor=debug --smtp-from staunch@example.org --files-folder .",
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

#[tokio::test]
async fn a_refused_setting_is_named_with_its_value_and_its_source() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        (["--nats-url", "http://x"], "nats-url = \"http://x\" from the command line: a NATS URL"),
        (["--database-url", "mysql://db/x"], "database-url = \"mysql://db/x\" from the command"),
        (["--admin-name", "a"], "admin-name = \"a\" from the command line: the first user"),
    ] {
        let output = run_in(here.path(), &[&["config"][..], &arguments].concat()).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
    std::fs::write(here.path().join("staunch.toml"), "log = \"info\"\nrole = \"executer\"\n")
        .unwrap();
    let in_file = stderr(&run_in(here.path(), &["config"]).await);
    assert!(in_file.contains("role = \"executer\" from staunch.toml, line 2: "), "{in_file}");
    // What no role of a process uses is no reason.
    let timer = ["config", "--role", "timer", "--admin-name", "a"];
    let output = run_in(here.path(), &timer).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// What the settings say of places, for tools without a node, is what the archive and payloads take.
#[test]
fn places_are_what_their_forms_say() {
    let described = chassis::Settings::described();
    let form = |name: &str, text: &str| {
        let form = &described.iter().find(|one| one.name == name).unwrap().form;
        regex::Regex::new(form.pattern.as_deref().unwrap()).unwrap().is_match(text)
    };
    for (text, is_taken) in [
        ("parts", true),
        ("/var/lib/parts", true),
        ("./files:x", true),
        ("/a:b", true),
        ("a b:c", true),
        ("1a:b", true),
        ("C:\\parts", true),
        (":x", true),
        ("a/b:c:/d", true),
        ("s3://bucket", true),
        ("s3://bucket/a/b/", true),
        ("gs://bucket", false),
        ("ftp://x", false),
        ("files:/x", false),
        ("S3:bucket", false),
        ("s3:bucket", false),
        ("s3:/x", false),
        ("s3://", false),
        ("s3:///x", false),
        ("/a://b", false),
        ("a/b:c://d", false),
    ] {
        assert_eq!(archive::Archive::check(text).is_ok(), is_taken, "{text}");
        assert_eq!(payloads::Places::check(&[text.to_owned()]).is_ok(), is_taken, "{text}");
        assert_eq!(form("archive-to", text), is_taken, "archive-to = {text}");
        for listed in [text.to_owned(), format!("nats,{text},database,")] {
            assert_eq!(form("payload-store", &listed), is_taken, "payload-store = {listed}");
        }
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
