//! Every form of login, on servers that require one.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bus::{Error, Queue as _, Wire as _};
use bus_nats::{Options, connect};
use futures::StreamExt as _;
use nkeys::KeyPair;
use protocol::Message;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestNats, eventually, nats_with, within};

/// The longest wait for any condition.
const BOUND: Duration = Duration::from_secs(20);

/// A server with this configuration, and its directory.
async fn server(configuration: &str) -> (TestNats, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.conf");
    std::fs::write(&path, configuration).unwrap();
    (nats_with(|options| options.config = Some(path)).await, directory)
}

/// Options that connect to the server, with this login before its host.
fn options(server: &TestNats, login: &str) -> Options {
    Options::new(server.url().replace("nats://", &format!("nats://{login}")))
}

async fn must_enter(options: Options) {
    let bus = connect(options).await.unwrap();
    bus.provision(1).await.unwrap();
    bus.verify().await.unwrap();
    bus.close().await;
}

/// The server refuses this login at once, and the error names the user without the secret.
async fn must_stay_out(options: Options, server: &TestNats, who: &str) {
    let began = Instant::now();
    let error = connect(options).await.map(drop).unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error}");
    let text = error.to_string();
    let place = server.url().replace("nats://", "");
    assert!(text.contains(who) && text.contains(&place) && !text.contains("hush"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn users_and_nkeys_of_an_account_enter() {
    let (user, stranger) = (KeyPair::new_user(), KeyPair::new_user());
    let (server, directory) = server(&format!(
        r#"accounts {{
            APP {{
                jetstream: enabled
                users: [ {{ user: "sta@unch", password: "hush:/%" }}, {{ nkey: {} }} ]
            }}
            OTHER {{ users: [ {{ user: "other", password: "hush" }} ] }}
        }}"#,
        user.public_key()
    ))
    .await;
    must_enter(options(&server, "sta%40unch:hush%3A%2F%25@")).await;
    must_stay_out(options(&server, "sta%40unch:hush@"), &server, "user \"sta@unch\"").await;
    must_stay_out(options(&server, ""), &server, "a client without a login").await;
    must_stay_out(options(&server, "hush@"), &server, "a token").await;

    let with_seed = |name: &str, pair: &KeyPair| {
        let path = directory.path().join(name);
        std::fs::write(&path, format!("# a user\n{}\n", pair.seed().unwrap())).unwrap();
        Options { nkey: Some(path), ..options(&server, "") }
    };
    must_enter(with_seed("user.nk", &user)).await;
    must_stay_out(with_seed("stranger.nk", &stranger), &server, &stranger.public_key()).await;

    // A user without permissions is let in, and the error names the missing permission.
    let other = connect(options(&server, "other:hush@")).await.unwrap();
    let error = other.provision(1).await.unwrap_err().to_string();
    assert!(error.contains("JetStream"), "{error}");
}

#[tokio::test]
async fn a_request_that_the_server_refuses_is_not_taken_for_silence() {
    let (server, _directory) = server(
        r#"accounts { APP {
            jetstream: enabled
            users: [ { user: "timer", password: "hush",
                permissions: { publish: { deny: ["staunch.runtime.>"] } } } ]
        } }"#,
    )
    .await;
    let bus = connect(options(&server, "timer:hush@")).await.unwrap();
    let ask = async |subject: &str| {
        let message = Message { subject: subject.to_owned(), ..Message::default() };
        bus.request(message, Duration::from_secs(1)).await.unwrap_err()
    };
    let refused = ask("staunch.runtime.n1").await;
    assert!(matches!(refused, Error::Denied(_)), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("user \"timer\" may not publish on staunch.runtime.n1"), "{text}");
    let unheard = ask("staunch.other.n1").await;
    assert!(matches!(unheard, Error::Unavailable(_)), "{unheard}");
    bus.close().await;
}

/// nats-server keeps the connection, and says nothing when the permissions are there.
#[tokio::test]
async fn a_subscription_that_the_server_refuses_ends_with_the_reason() {
    let (server, _directory) = server(
        r#"accounts { APP {
            jetstream: enabled
            users: [ { user: "timer", password: "hush",
                permissions: { subscribe: { deny: ["secret.>"] } } } ]
        } }"#,
    )
    .await;
    let bus = connect(options(&server, "timer:hush@")).await.unwrap();
    for _ in 0..2 {
        let mut refused = bus.subscribe_if_allowed("secret.*").await.unwrap();
        let error = within("the refusal", BOUND, refused.next()).await.unwrap().unwrap_err();
        assert!(matches!(error, Error::Denied(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("user \"timer\" may not hear secret.*: NATS says"), "{text}");
    }
    let mut allowed = bus.subscribe_if_allowed("open.*").await.unwrap();
    bus.send(Message { subject: "open.a".to_owned(), ..Message::default() }).await.unwrap();
    let heard = within("a message", BOUND, allowed.next()).await.unwrap().unwrap();
    assert_eq!(heard.message.subject, "open.a");
    bus.close().await;
    assert!(within("the end", BOUND, allowed.next()).await.is_none());
}

#[tokio::test]
async fn a_token_enters() {
    let (server, _directory) = server("authorization { token: \"hush/token\" }").await;
    must_enter(options(&server, "hush%2Ftoken@")).await;
    must_stay_out(options(&server, "hush@"), &server, "a token").await;
}

#[tokio::test]
async fn a_credentials_file_enters() {
    let (operator, system) = (KeyPair::new_operator(), KeyPair::new_account());
    let (account, user) = (KeyPair::new_account(), KeyPair::new_user());
    let no_limits = json!({"subs": -1, "conn": -1, "data": -1, "payload": -1, "imports": -1,
        "exports": -1, "wildcards": true, "mem_storage": -1, "disk_storage": -1, "streams": -1,
        "consumer": -1});
    let of_account = json!({"type": "account", "version": 2, "limits": no_limits});
    let of_system = json!({"type": "account", "version": 2,
        "limits": {"subs": -1, "conn": -1, "data": -1, "payload": -1}});
    let (server, directory) = server(&format!(
        "operator: {}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload {{\n{system}: \
         {}\n{app}: {}\n}}",
        token(&operator, &operator, &json!({"type": "operator", "version": 2}), 0),
        token(&operator, &system, &of_system, 0),
        token(&operator, &account, &of_account, 0),
        system = system.public_key(),
        app = account.public_key(),
    ))
    .await;
    let with_file = |name: &str, issuer: &KeyPair, expires: u32| {
        let claims = json!({"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1});
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            token(issuer, &user, &claims, expires),
            user.seed().unwrap()
        );
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        Options { creds: Some(path), ..options(&server, "") }
    };
    must_enter(with_file("app.creds", &account, 0)).await;
    let forged = with_file("forged.creds", &KeyPair::new_account(), 0);
    must_stay_out(forged, &server, "forged.creds").await;
    let late = with_file("late.creds", &account, 1_700_000_001);
    let said = "late.creds, whose JWT expires at 2023-11-14T22:13:21";
    must_stay_out(late, &server, said).await;

    std::fs::write(directory.path().join("empty.creds"), "hush").unwrap();
    let no_creds =
        Options { creds: Some(directory.path().join("empty.creds")), ..options(&server, "") };
    let error = connect(no_creds).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("empty.creds is not a NATS credentials file"), "{error}");
}

/// A JWT as `nsc` makes it.
fn token(issuer: &KeyPair, subject: &KeyPair, claims: &Value, expires: u32) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let body = json!({"jti": "test", "iat": 1_700_000_000, "exp": expires, "iss": issuer.public_key(),
        "name": "test", "sub": subject.public_key(), "nats": claims});
    let signed =
        format!("{}.{}", encode(&json!({"typ": "JWT", "alg": "ed25519-nkey"})), encode(&body));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).unwrap()))
}

/// A password is replaced while a process runs: the next connection has the new one.
#[tokio::test]
async fn a_password_in_a_file_is_read_again_for_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("server.conf");
    let set = |user: &str, password: &str| {
        let text = format!("authorization {{ user: {user}, password: \"{password}\" }}");
        std::fs::write(&configuration, text).unwrap();
    };
    set("staunch", "first hush");
    let path = configuration.clone();
    let mut server = nats_with(|options| options.config = Some(path)).await;
    let file = folder.path().join("url");
    let tell = |server: &TestNats, login: &str| {
        let url = server.url().replace("nats://", &format!("nats://{login}@"));
        std::fs::write(&file, format!("{url}\n")).unwrap();
        url
    };
    let url = tell(&server, "staunch:first%20hush");
    let bus = connect(Options { url_file: Some(file.clone()), ..Options::new(url) }).await.unwrap();
    bus.provision(1).await.unwrap();
    let answers = async || bus.ping().await.is_ok();
    assert!(answers().await);

    set("staunch", "second hush");
    tell(&server, "staunch:second%20hush");
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    eventually("the new password is used", BOUND, answers).await;

    // The subjects of answers have the user's name, so another user is refused, as is what is no URL:
    // the login of before stays.
    for useless in ["nats://other:third%20hush@127.0.0.1:1", "no URL at all", ""] {
        std::fs::write(&file, useless).unwrap();
        server.server().kill().unwrap();
        server.server().restart().await.unwrap();
        eventually("the user of before enters", BOUND, answers).await;
    }
    set("staunch", "fourth hush");
    tell(&server, "staunch:fourth%20hush");
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    eventually("a password after what was no use", BOUND, answers).await;
    bus.close().await;
}
