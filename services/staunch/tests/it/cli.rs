//! The common behaviour of all commands: exit codes, JSON, limits, and that reading changes
//! nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use testkit::{free_port, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{COMMAND_MAX, command, json, run_in, stderr};

#[track_caller]
fn ended_with(output: &Output, code: i32, text: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(text), "{text:?} is not in: {said}");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// The address of a server that does not exist.
fn nowhere(scheme: &str) -> String {
    format!("{scheme}://127.0.0.1:{}", free_port())
}

#[tokio::test]
async fn commands_that_look_create_nothing() {
    let here = folder();
    for arguments in [
        &["key", "ls"][..],
        &["key", "ls", "--provision"],
        &["migrate", "--check"],
        &["migrate", "--check", "--database-url", "sqlite://sub/x.db?mode=rwc"],
        &["key", "create", "x"],
        &["key", "rm", "x"],
    ] {
        ended_with(&run_in(here.path(), arguments).await, 3, "there is no database");
    }
    for arguments in [&["config"][..], &["config", "-o", "json"], &["--help"], &["--version"]] {
        ended_with(&run_in(here.path(), arguments).await, 0, "");
    }
    assert!(is_empty(here.path()));
}

/// A reader that leaves when it has seen enough, such as `grep -q`, does not make the command fail.
#[tokio::test]
async fn a_table_is_written_in_one_piece() {
    let here = folder();
    // A datagram for each write.
    let (read, written) = std::os::unix::net::UnixDatagram::pair().unwrap();
    let mut config = command(&["config"]);
    config.current_dir(here.path()).stdout(std::os::fd::OwnedFd::from(written));
    let child = config.spawn().unwrap();
    drop(config);
    let ended = within("the end of the command", COMMAND_MAX, child.wait_with_output()).await;
    ended_with(&ended.unwrap(), 0, "");
    let mut piece = vec![0; 100_000];
    let length = read.recv(&mut piece).unwrap();
    assert!(String::from_utf8_lossy(&piece[..length]).lines().count() > 10);
    read.set_nonblocking(true).unwrap();
    assert!(read.recv(&mut piece).is_err(), "there is a second piece");
}

#[tokio::test]
async fn commands_that_look_create_no_streams() {
    let nats = testkit::nats().await;
    let here = folder();
    for arguments in [&["dead", "ls"][..], &["dead", "show", "1"], &["provision", "--check"]] {
        let mut arguments = arguments.to_vec();
        let url = nats.url();
        arguments.extend(["--provision", "--nats-url", &url]);
        let output = run_in(here.path(), &arguments).await;
        ended_with(&output, 1, "run `staunch provision`");
    }
    let url = nats.url();
    let made = run_in(here.path(), &["provision", "--nats-url", &url, "-o", "json"]).await;
    let streams = json(&made)["streams"].as_array().unwrap().len();
    assert!(streams >= 4, "{made:?}");
    let checked = run_in(here.path(), &["provision", "--check", "--nats-url", &url]).await;
    ended_with(&checked, 0, "has everything that Staunch needs");
    let repaired = run_in(here.path(), &["provision", "--repair", "--nats-url", &url]).await;
    ended_with(&repaired, 0, "each bucket in memory has a leader: there was nothing to repair");
    let dead = run_in(here.path(), &["dead", "ls", "-o", "json", "--nats-url", &url]).await;
    assert_eq!(json(&dead), Value::Array(Vec::new()));
    let leases = ["lease", "ls", "--nats-url", &url, "--server", "http://127.0.0.1:9"];
    let unasked = format!("leases of NATS at {url}; the server http://127.0.0.1:9 is not asked");
    ended_with(&run_in(here.path(), &leases).await, 0, &unasked);
    let gone = run_in(here.path(), &["dead", "rm", "7", "--nats-url", &url]).await;
    ended_with(&gone, 3, "there is no dead command 7");
    let all = run_in(here.path(), &["dead", "rm", "--all", "-o", "json", "--nats-url", &url]).await;
    assert_eq!(json(&all), Value::Array(Vec::new()));
    assert!(is_empty(here.path()));
}

#[tokio::test]
async fn one_reason_has_one_exit_code() {
    let here = folder();
    let (http, nats) = (nowhere("http"), nowhere("nats"));
    let postgres = format!("postgres://staunch:hunter2@127.0.0.1:{}/orders", free_port());
    let unavailable = [
        &["run", "x", "--server", &http][..],
        &["instance", "ls", "--server", &http],
        &["health", &http],
        &["dead", "ls", "--nats-url", &nats],
        &["provision", "--nats-url", &nats],
        &["migrate", "--database-url", &postgres],
        &["key", "ls", "--database-url", &postgres],
        &["server", "--provision", "--nats-url", &nats, "--database-url", "sqlite::memory:"],
        &["server", "--database-url", &postgres],
    ];
    // Each command waits for a while before it gives up, so all run at once.
    let tries = unavailable.map(|arguments| run_in(here.path(), arguments));
    for output in futures::future::join_all(tries).await {
        ended_with(&output, 5, "127.0.0.1:");
        assert!(!stderr(&output).contains("hunter2"), "{output:?}");
    }
    let wrong_mode = format!("{postgres}?sslmode=verify_full");
    let no_root = format!("{postgres}?sslrootcert=nope.pem");
    let wrong_port = "postgres://staunch:hunter2@127.0.0.1:54x2/orders";
    let no_key = format!("{postgres}?sslmode=require&sslcert=cert.pem");
    let pairs = "host=127.0.0.1 user=staunch password=hunter2 dbname=orders";
    let wrong = [
        &["fly"][..],
        &["run"],
        &["run", "x", "-i", "[1]"],
        &["run", "x", "--server", "localhost:5001"],
        &["health", "127.0.0.1:5002"],
        &["health", "http://127.0.0.1:5002", "--seconds", "0"],
        &["server", "--role", "pilot"],
        &["server", "--nats-url", "http://x"],
        &["config", "--role", "pilot"],
        &["config", "--nats-url", "http://x"],
        &["config", "--archive-to", "ftp://x"],
        &["server", "--lease-ttl", "soon"],
        &["key", "ls", "--database-url", "mysql://root@db/x"],
        &["server", "--database-url", "mysql://root@db/x"],
        &["instance", "ls", "--limit", "0"],
        &["instance", "ls", "--limit", "9223372036854775808"],
        &["provision", "--replicas", "0"],
        &["provision", "--repair", "--check"],
        &["provision", "--nats-url", &nats, "--nats-ca", "nope.pem"],
        &["server", "--nats-url", &nats, "--nats-ca", "nope.pem"],
        &["key", "ls", "--database-url", &wrong_mode],
        &["key", "ls", "--database-url", &no_root],
        &["key", "ls", "--database-url", wrong_port],
        &["payload", "put", "nope.bin"],
        &["server", "--database-url", wrong_port],
        &["key", "ls", "--database-url", pairs],
        &["doctor", "--database-url", pairs],
        &["server", "--database-url", pairs],
        &["support-bundle", "--database-url", pairs],
        &["migrate", "--database-url", &no_key],
        &["server", "--database-url", &no_key],
    ];
    for arguments in wrong {
        let output = run_in(here.path(), arguments).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("hunter2"), "{output:?}");
    }
    let shown = run_in(here.path(), &["config", "--database-url", pairs]).await;
    assert!(!format!("{shown:?}").contains("hunter2"), "{shown:?}");
    let help = run_in(here.path(), &["--help"]).await;
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("Exit codes:") && help.contains("  5    a server"), "{help}");
    assert!(is_empty(here.path()));
}

/// No server is asked: there is none.
#[tokio::test]
async fn settings_that_a_role_cannot_run_with_are_wrong_usage() {
    let here = folder();
    let pair = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&pair).unwrap();
    std::fs::write(here.path().join("cert.pem"), certificate.pem()).unwrap();
    let other = rcgen::KeyPair::generate().unwrap();
    std::fs::write(here.path().join("other.pem"), other.serialize_pem()).unwrap();
    let nats = nowhere("nats");
    let server = ["server", "--nats-url", &nats, "--database-url", "sqlite::memory:"];
    for (arguments, text) in [
        ("--auth oidc", "oidc-issuer"),
        ("--auth oidc --oidc-audience x --oidc-issuer http://x.example", "oidc-issuer"),
        ("--tls-cert /nope --tls-key x", "tls-cert"),
        ("--tls-cert cert.pem --tls-key other.pem", "other.pem"),
        ("--base-url nonsense", "base-url"),
        ("--secrets-key-file /nope", "secrets-key-file"),
        ("--role executor --secrets-key-file /nope", "secrets-key-file"),
        ("--auth identity --admin-name a --admin-password-file /nope", "admin-password-file"),
        ("--admin-name a", "admin-name = \"a\" from the command line: the first user"),
        ("--cors-origins *", "such as https://studio.example"),
        ("--cors-origins https://studio.example/", "such as https://studio.example"),
    ] {
        let whole: Vec<_> = server.into_iter().chain(arguments.split(' ')).collect();
        ended_with(&run_in(here.path(), &whole).await, 2, text);
    }
    let mut short = command(&server);
    short.current_dir(here.path()).env("STAUNCH_AUTH", "identity");
    short.env("STAUNCH_ADMIN_NAME", "a").env("STAUNCH_ADMIN_PASSWORD", "short");
    ended_with(&short.output().await.unwrap(), 2, "the first user");
}

#[tokio::test]
async fn a_refused_database_is_named_without_its_password() {
    let Some(database) = testkit::postgres().await else { return };
    let url = database.url();
    let (_, place) = url.split_once('@').unwrap();
    let (address, _) = place.split_once('/').unwrap();
    let url = format!("postgres://stranger:hunter2@{address}/orders");
    let output = run_in(folder().path(), &["migrate", "--check", "--database-url", &url]).await;
    ended_with(&output, 6, address);
    ended_with(&output, 6, "\"stranger\"");
    assert!(!stderr(&output).contains("hunter2"), "{output:?}");
}

/// As one is that was put in its place beside the `-wal` of a node that was killed.
#[tokio::test]
async fn a_damaged_sqlite_file_is_refused_with_the_way_to_restore_it() {
    const PAGE: usize = 4_096;
    let here = folder();
    let url = ["--database-url", "sqlite://staunch.db"];
    let migrated = run_in(here.path(), &[&["migrate"][..], &url].concat()).await;
    ended_with(&migrated, 0, "the schema is up to date");
    let check = async || run_in(here.path(), &[&["migrate", "--check"][..], &url].concat()).await;
    ended_with(&check().await, 0, "the schema is up to date");

    let file = here.path().join("staunch.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / PAGE / 2 * PAGE;
    bytes[middle..middle + PAGE].fill(0xa5);
    for damaged in [bytes, vec![0xa5; 2 * PAGE]] {
        std::fs::write(&file, damaged).unwrap();
        let refused = check().await;
        ended_with(&refused, 1, "staunch.db is damaged: ");
        for file in ["staunch.db, ", "staunch.db-wal and ", "staunch.db-shm, and only then put"] {
            ended_with(&refused, 1, file);
        }
    }
}

#[tokio::test]
async fn a_key_has_permissions_that_exist_and_days_that_end() {
    let here = folder();
    let url = "sqlite://keys.db";
    let migrated = run_in(here.path(), &["migrate", "-o", "json", "--database-url", url]).await;
    assert!(!json(&migrated)["applied"].as_array().unwrap().is_empty());
    let checked =
        run_in(here.path(), &["migrate", "--check", "-o", "json", "--database-url", url]).await;
    assert_eq!(json(&checked)["missing"], Value::Array(Vec::new()));

    let long = "x".repeat(70_000);
    for arguments in [
        &["--permissions", "fly:*"][..],
        &["--permissions", "read:*,,"],
        &["--permissions", &long],
        &["--days", "0"],
        &["--days", "36501"],
        &["--days", "18446744073709551615"],
        &["--days", "-1"],
    ] {
        let mut whole = vec!["key", "create", "ci", "--database-url", url];
        whole.extend(arguments);
        assert_eq!(run_in(here.path(), &whole).await.status.code(), Some(2), "{arguments:.40?}");
    }
    let list = async || {
        json(&run_in(here.path(), &["key", "ls", "-o", "json", "--database-url", url]).await)
    };
    assert_eq!(list().await, Value::Array(Vec::new()));

    let create = ["key", "create", "ci", "--permissions", "read:*,exec:workflow-definitions"];
    let create = [&create[..], &["--days", "30", "-o", "json", "--database-url", url]].concat();
    let made = json(&run_in(here.path(), &create).await);
    assert!(made["key"].as_str().unwrap().starts_with("stk_"), "{made}");
    assert!(made["expiresAt"].is_string() && made.get("hash").is_none(), "{made}");
    let listed = list().await;
    assert_eq!((&listed[0]["id"], listed[0].get("key")), (&made["id"], None));
    let table = run_in(here.path(), &["key", "ls", "--database-url", url]).await;
    assert!(String::from_utf8_lossy(&table.stdout).contains("exec:workflow-definitions"));

    let id = made["id"].as_str().unwrap();
    let removed =
        run_in(here.path(), &["key", "rm", id, "-o", "json", "--database-url", url]).await;
    assert_eq!(json(&removed)["removed"], true);
    let again = run_in(here.path(), &["key", "rm", id, "--database-url", url]).await;
    ended_with(&again, 3, "there is no key");
}

#[tokio::test]
async fn apply_goes_on_after_a_file_that_it_cannot_read() {
    let here = folder();
    std::fs::write(here.path().join("a.json"), "{").unwrap();
    std::fs::write(here.path().join("b.json"), r#"{"definitionId": "b"}"#).unwrap();
    let server = nowhere("http");
    let mut apply = command(&["apply", "--server", &server, "-f", "gone.json", ".", "-o", "json"]);
    let output = apply.current_dir(here.path()).output().await.unwrap();
    let said = stderr(&output);
    for part in [
        "cannot read gone.json",
        "a.json:1:1: this is not JSON",
        "b.json",
        "3 files are not applied",
    ] {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
    // Two different reasons: neither code alone would be right.
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(&output), Value::Array(Vec::new()));
    let one = run_in(here.path(), &["apply", "--server", &server, "-f", "gone.json"]).await;
    assert_eq!(one.status.code(), Some(2), "{}", stderr(&one));
}

#[tokio::test]
async fn users_of_nats_are_printed_for_servers_and_for_programs() {
    let here = folder();
    let output = run_in(here.path(), &["nats-permissions", "--worker", "Ship"]).await;
    ended_with(&output, 0, "");
    let file = include_str!("../../../../nats/accounts.conf");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), file);
    // The object store is one for all: nobody puts objects unless that was asked for.
    let puts = "\"$O.staunch_payloads.M.*\"";
    assert!(!file.contains(puts), "{puts}");
    for arguments in
        [&["nats-permissions", "--worker", "Ship"][..], &["worker", "creds", "Ship"][..]]
    {
        let output = run_in(here.path(), &[arguments, &["--with-objects"]].concat()).await;
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, worker) = text.split_once("user: worker-ship").unwrap();
        assert!(worker.contains(puts), "{text}");
    }
    // What workflows use, for the users that run them.
    let uses = [
        "--subject",
        "orders.>",
        "--stream",
        "ORDERS",
        "--bucket",
        "config",
        "--object-store",
        "files",
    ];
    let output =
        run_in(here.path(), &[&["nats-permissions", "-o", "json"][..], &uses].concat()).await;
    for user in json(&output)["users"].as_array().unwrap() {
        let runs = ["executor", "node"].contains(&user["user"].as_str().unwrap());
        for subject in
            ["orders.>", "$JS.API.CONSUMER.CREATE.ORDERS.>", "$KV.config.>", "$O.files.M.*"]
        {
            let may = user["publish"].as_array().unwrap().contains(&Value::from(subject));
            assert_eq!(may, runs, "{subject}: {user:#}");
        }
    }
    for (option, name) in
        [("--subject", "staunch.>"), ("--stream", "a b"), ("--bucket", "staunch_leases")]
    {
        let output = run_in(here.path(), &["nats-permissions", option, name]).await;
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
    let output = run_in(here.path(), &["nats-permissions", "-o", "json"]).await;
    let users = json(&output)["users"].as_array().unwrap().clone();
    let names: Vec<_> = users.iter().map(|user| user["user"].as_str().unwrap()).collect();
    let expected =
        ["ingress", "executor", "timer", "cache-notifier", "node", "admin", "starter", "watcher"];
    assert_eq!(names, expected);
    for (arguments, text) in [
        (
            ["Ship it", "ship-it"],
            "--worker: the types of tasks \"Ship it\" and \"ship-it\" would both have the user \
             \"worker-ship-it\"",
        ),
        (["a", "\n"], "--worker: no user can be named after the task \"\\n\""),
    ] {
        let [one, other] = arguments;
        let arguments = ["nats-permissions", "--worker", one, "--worker", other];
        ended_with(&run_in(here.path(), &arguments).await, 2, text);
    }
    assert!(is_empty(here.path()));
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = command(&["config"]).spawn().unwrap();
    drop(child.stdout.take());
    let ended = within("the end of the command", COMMAND_MAX, child.wait_with_output());
    let ended = ended.await.unwrap();
    assert_eq!((ended.status.code(), stderr(&ended).as_str()), (Some(141), ""));
}

#[tokio::test]
async fn an_empty_variable_means_none_and_an_unknown_one_is_named() {
    let mut run = command(&["workflow", "ls"]);
    run.env("STAUNCH_SERVER", "").env("STAUNCH_API_KEY", "");
    let ended = within("the end", COMMAND_MAX, run.output()).await.unwrap();
    let said = stderr(&ended);
    assert!(!said.contains("is not an address"), "{said}");
    let mut config = command(&["config", "-o", "json"]);
    config.env("STAUNCH_NATS_ULR", "nats://x");
    let ended = within("the end", COMMAND_MAX, config.output()).await.unwrap();
    let said = stderr(&ended);
    assert!(said.contains("STAUNCH_NATS_ULR is ignored"), "{said}");
    assert!(said.contains("did you mean STAUNCH_NATS_URL?"), "{said}");
    assert!(ended.status.success(), "{said}");
}

#[tokio::test]
async fn settings_of_an_issuer_that_a_server_refuses_are_refused_by_config_too() {
    let here = folder();
    let good = [
        ("--auth", "oidc"),
        ("--oidc-issuer", "https://id.example.com"),
        ("--oidc-audience", "staunch"),
    ];
    let run = async |command: &'static str, changes: &[(&'static str, &'static str)]| {
        let settings: BTreeMap<_, _> = good.into_iter().chain(changes.iter().copied()).collect();
        let settings = settings.into_iter().flat_map(|(name, value)| [name, value]);
        let line: Vec<_> = [command].into_iter().chain(settings).collect();
        run_in(here.path(), &line).await
    };
    for (changes, why) in [
        (&[("--oidc-issuer", "http://id.example.com")][..], "is not https"),
        (&[("--oidc-audience", ",")], "no audience"),
        (&[("--oidc-algorithms", "none,HS256")], "signs nothing"),
        (&[("--auth", "oidc,identity"), ("--token-issuer", "https://id.example.com")], "are both"),
        (&[("--base-url", "flow.example.com")], "base-url"),
    ] {
        for command in ["config", "server"] {
            ended_with(&run(command, changes).await, 2, why);
        }
    }
    ended_with(&run_in(here.path(), &["config", "--auth", "oidc"]).await, 2, "set oidc-issuer");
    ended_with(&run("config", &[]).await, 0, "");
    // A node without the role takes no tokens.
    ended_with(&run("config", &[("--role", "timer"), ("--oidc-audience", ",")]).await, 0, "");
}

#[tokio::test]
async fn the_key_of_a_command_may_be_in_a_file() {
    let here = folder();
    let file = here.path().join("key");
    std::fs::write(&file, "the-key-in-the-file\n").unwrap();
    let file = file.to_str().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let run = async |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(arguments);
        command.current_dir(here.path()).envs(variables.iter().copied());
        within("the end of the command", COMMAND_MAX, command.output()).await.unwrap()
    };
    let list = ["instance", "ls", "--server", &server];
    let level = ["log-level", "--admin", &server];
    let nats = nowhere("nats");
    // The key of a caller is not judged as that of a server would be.
    let doctor = ["doctor", "--server", &server, "--nats-url", &nats, "--nats-wait", "1s"];
    let nodes = ["validate", "--nodes", &server];
    for arguments in [&list[..], &level, &nodes] {
        let nowhere = run(arguments, &[("STAUNCH_API_KEY_FILE", "/nowhere/key")]).await;
        ended_with(&nowhere, 2, "/nowhere/key");
        let both = [("STAUNCH_API_KEY_FILE", file), ("STAUNCH_API_KEY", "another")];
        ended_with(&run(arguments, &both).await, 2, "are both set");
    }
    for (arguments, is_given) in [
        (&list[..], false),
        (&level, false),
        (&[&list[..], &["--api-key", "given"]].concat(), true),
        (&[&doctor[..], &["--api-key", "given"]].concat(), true),
    ] {
        let asked = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let refusal =
                "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(refusal.as_bytes()).await.unwrap();
            String::from_utf8(head).unwrap().to_lowercase()
        };
        let variables = [("STAUNCH_API_KEY_FILE", file)];
        let (ended, head) = tokio::join!(run(arguments, &variables), asked);
        let key = if is_given { "apikey given\r\n" } else { "apikey the-key-in-the-file\r\n" };
        assert!(head.contains(&format!("authorization: {key}")), "{head}");
        ended_with(&ended, 6, "");
    }
}
