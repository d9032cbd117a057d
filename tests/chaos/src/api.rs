//! A client of one node's HTTP API. The node may be gone at any time.

use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// The API key of nodes that want one; the others do not look at it.
pub(crate) const KEY: &str = "6f1c2d9be07a4358b1f2c3d4e5a6978812ab34cd";

/// A client of one node. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    url: String,
}

/// An HTTP response: status, the header Retry-After, body.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Value,
}

impl Response {
    /// The body of a successful response.
    pub(crate) fn ok(self) -> Value {
        assert!(self.is_ok(), "{} {}", self.status, self.body);
        self.body
    }

    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Api {
    pub(crate) fn new(url: &str) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(60))
            // A node closes a connection that is idle for longer, perhaps while a request is sent.
            .pool_idle_timeout(model::limits::HEADERS_TIME_MAX / 2)
            .build()
            .unwrap();
        Self { http, url: url.to_owned() }
    }

    /// Sends a request below the node's address, with an idempotency key if one is given.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> reqwest::Result<Response> {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        request = request.header("Authorization", format!("ApiKey {KEY}"));
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key).header("Prefer", "wait=5");
        }
        if !body.is_null() {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let retry_after = answer.headers().get("retry-after");
        let retry_after = retry_after.map(|value| value.to_str().unwrap().to_owned());
        let bytes = answer.bytes().await?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Ok(Response { status, retry_after, body })
    }

    /// Imports and publishes.
    pub(crate) async fn publish(&self, definition: &Value) {
        self.try_publish(definition).await.unwrap().ok();
    }

    /// Imports and publishes; the node may be gone.
    pub(crate) async fn try_publish(&self, definition: &Value) -> reqwest::Result<Response> {
        let path = "/elsa/api/workflow-definitions/import";
        self.send(Method::POST, path, None, definition).await?;
        let id = definition["definitionId"].as_str().unwrap();
        let path = format!("/elsa/api/workflow-definitions/{id}/publish");
        self.send(Method::POST, &path, None, &json!({})).await
    }

    /// Retracts the published version: nothing starts it any more.
    pub(crate) async fn retract(&self, definition_id: &str) {
        let path = format!("/elsa/api/workflow-definitions/{definition_id}/retract");
        self.send(Method::POST, &path, None, &json!({})).await.unwrap().ok();
    }

    /// Resumes the instance at its open bookmark; returns the response.
    pub(crate) async fn resume(&self, instance: &str) -> reqwest::Result<Response> {
        let path = format!("/elsa/api/workflow-instances/{instance}/resume");
        self.send(Method::POST, &path, None, &json!({"input": {}})).await
    }

    /// Sends a start; the response comes when the start is accepted.
    pub(crate) async fn start_async(
        &self,
        definition: &str,
        instance: &str,
        number: usize,
    ) -> reqwest::Result<Response> {
        let path = format!("/elsa/api/workflow-definitions/{definition}/dispatch");
        let body = json!({"instanceId": instance, "input": {"Number": number}});
        self.send(Method::POST, &path, None, &body).await
    }

    /// The value of one of this node's metrics without labels.
    pub(crate) async fn metric_of(&self, name: &str) -> f64 {
        let answer = self.send(Method::GET, "/metrics", None, &Value::Null).await.unwrap().ok();
        let text = answer.as_str().unwrap_or_default();
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        lines.next().map_or(0.0, |value| value.trim().parse().unwrap())
    }

    /// The value of one of this node's counters, under a label.
    pub(crate) async fn metric(&self, name: &str, label: &str) -> f64 {
        let answer = self.send(Method::GET, "/metrics", None, &Value::Null).await.unwrap().ok();
        let text = answer.as_str().unwrap_or_default();
        let label = format!("\"{label}\"");
        let mut lines = text.lines().filter(|line| line.starts_with(name) && line.contains(&label));
        let value = lines.next().and_then(|line| line.split_whitespace().last());
        value.map_or(0.0, |value| value.parse().unwrap())
    }

    /// Sends a start; returns the response.
    pub(crate) async fn start(
        &self,
        definition: &str,
        instance: &str,
        number: usize,
    ) -> reqwest::Result<Response> {
        let body = json!({"definitionId": definition, "instanceId": instance,
            "input": {"Number": number}});
        self.send(Method::POST, "/elsa/api/workflow-instances", Some(instance), &body).await
    }
}
