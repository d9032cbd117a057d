//! Tokens of a real OpenID provider, `oidc-provider` on Node.

use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chassis::Life;
use reqwest::{Client, Url};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::*;
use crate::serve;

const PACKAGE: &str = "oidc-provider";
const VERSION: &str = "9.13.3";
const RESOURCE: &str = "https://staunch.example.com";

struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    /// A provider with new keys, on this port.
    async fn start(port: u16, algorithm: &str) -> Option<Self> {
        let folder = testkit::npm(PACKAGE, VERSION)?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/oidc/provider.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(folder).args([&port.to_string(), algorithm, RESOURCE]);
        node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = node.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = testkit::within("the provider starts", BOUND, lines.next_line()).await.unwrap();
        let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
        Some(Self { child, issuer: said["issuer"].as_str().unwrap().to_owned() })
    }

    fn port(&self) -> u16 {
        Url::parse(&self.issuer).unwrap().port().unwrap()
    }

    /// An access token for this resource by the grant of client credentials.
    async fn token(&self, client: &str, resource: &str) -> String {
        let basic = STANDARD.encode(format!("{client}:a-secret-of-a-client"));
        let body = format!("grant_type=client_credentials&scope=read&resource={resource}");
        let asked = Client::new()
            .post(format!("{}/token", self.issuer))
            .header("authorization", format!("Basic {basic}"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let answer: Value = asked.send().await.unwrap().json().await.unwrap();
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn stop(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// Status, challenge and detail of the answer to a request with this token.
async fn ask(address: std::net::SocketAddr, token: &str) -> (u16, String, String) {
    let asked = Client::new().get(format!("http://{address}{PATH}")).bearer_auth(token);
    let answer = asked.send().await.unwrap();
    let status = answer.status().as_u16();
    let challenge = answer.headers().get("www-authenticate");
    let challenge = challenge.map(|text| text.to_str().unwrap().to_owned()).unwrap_or_default();
    let body: Value = answer.json().await.unwrap();
    (status, challenge, body["detail"].as_str().unwrap_or_default().to_owned())
}

async fn through(algorithm: &str) {
    let Some(provider) = Provider::start(0, algorithm).await else { return };
    let (issuer, port) = (provider.issuer.clone(), provider.port());
    let readers = vec!["read:workflow-definitions".to_owned()];
    let oidc = OidcConfig {
        issuer: issuer.clone(),
        audiences: vec![RESOURCE.to_owned()],
        roles: [("readers".to_owned(), readers)].into(),
        refetch_pause: Duration::from_secs(1),
        allows_http: true,
        ..OidcConfig::default()
    };
    let config = Config {
        auth: Auth { oidc: true, ..Auth::NONE },
        listen: "127.0.0.1:0".parse().unwrap(),
        oidc: Some(oidc),
        ..Config::default()
    };
    let world = World::without_executor(Config::default()).await;
    let life = Life::new(Duration::from_secs(30));
    let address = serve::start(world.context(), config, &life).await.unwrap();

    let reader = provider.token("reader", RESOURCE).await;
    let header = reader.split('.').next().unwrap();
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
    assert_eq!(header["alg"], algorithm);
    assert_eq!(ask(address, &reader).await.0, 200);
    let stranger = provider.token("stranger", RESOURCE).await;
    let (status, _, detail) = ask(address, &stranger).await;
    assert_eq!(status, 403, "{detail}");
    assert!(detail.contains("oidc:stranger"), "{detail}");
    let elsewhere = provider.token("reader", "https://other.example.com").await;
    let (status, challenge, detail) = ask(address, &elsewhere).await;
    assert_eq!(status, 401, "{detail}");
    assert!(challenge.contains("invalid_token") && challenge.contains("audience"), "{challenge}");

    provider.stop().await;
    assert_eq!(ask(address, &reader).await.0, 200, "its keys are known");
    let provider = Provider::start(port, algorithm).await.unwrap();
    assert_eq!(provider.issuer, issuer);
    let renewed = provider.token("reader", RESOURCE).await;
    testkit::eventually("the new key is known", BOUND, async || {
        ask(address, &renewed).await.0 == 200
    })
    .await;
    let (status, challenge, _) = ask(address, &reader).await;
    assert_eq!(status, 401);
    assert!(challenge.contains("unknown key"), "{challenge}");
    provider.stop().await;
    life.begin_stop();
    assert!(life.finished().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_a_real_provider_are_accepted_rs256() {
    through("RS256").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_a_real_provider_are_accepted_es256() {
    through("ES256").await;
}
