//! A client of one node's HTTP API.

use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};
use testkit::eventually;

/// A client of one node.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    url: String,
}

/// An HTTP response: status and body.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Response {
    /// The body of a successful response.
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        self.body
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

    /// The same node, over new connections.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(&self.url)
    }

    /// Sends a body unchanged, below the node's address.
    pub(crate) async fn raw(&self, method: Method, path: &str, body: Option<String>) -> Response {
        self.try_raw(method, path, body).await.unwrap()
    }

    /// As [`Api::raw`]; the node may be gone.
    pub(crate) async fn try_raw(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> reqwest::Result<Response> {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(body) = body {
            request = request.header("Content-Type", "application/json").body(body);
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        Ok(Response { status, body: serde_json::from_slice(&bytes).unwrap_or_else(|_| text()) })
    }

    /// The status of an answer that does not end, such as live events.
    pub(crate) async fn raw_head(&self, path: &str) -> u16 {
        let answer = self.http.get(format!("{}{path}", self.url)).send().await.unwrap();
        answer.status().as_u16()
    }

    /// The node reports that it is ready.
    pub(crate) async fn is_ready(&self) -> bool {
        let asked = self.try_raw(Method::GET, "/health/ready", None).await;
        asked.is_ok_and(|answer| answer.status == 200)
    }

    /// The value of a series of the node's metrics.
    pub(crate) async fn figure(&self, series: &str) -> f64 {
        let answer = self.raw(Method::GET, "/metrics", None).await.ok();
        let text = answer.as_str().unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("there is no {series} in {text}")).parse().unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.raw(Method::GET, &format!("/elsa/api{path}"), None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        self.raw(Method::POST, &format!("/elsa/api{path}"), Some(body.to_string())).await
    }

    /// Imports and publishes; returns the response to the publication.
    pub(crate) async fn publish(&self, definition: &Value) -> Value {
        self.post("/workflow-definitions/import", definition).await.ok();
        let id = definition["definitionId"].as_str().unwrap();
        self.post(&format!("/workflow-definitions/{id}/publish"), &json!({})).await.ok()
    }

    /// Starts an instance; returns its id when the start is accepted.
    pub(crate) async fn start(&self, definition: &str, input: Value) -> String {
        let path = format!("/workflow-definitions/{definition}/dispatch");
        let body = self.post(&path, &json!({"input": input})).await.ok();
        body["workflowInstanceId"].as_str().unwrap().to_owned()
    }

    /// An instance with its state.
    pub(crate) async fn instance(&self, id: &str) -> Value {
        self.get(&format!("/workflow-instances/{id}")).await.ok()
    }

    /// Waits until an instance has this sub-status; returns the instance.
    pub(crate) async fn reaches(&self, id: &str, status: &str, bound: Duration) -> Value {
        eventually(&format!("{id} is {status}"), bound, async || {
            let answer = self.get(&format!("/workflow-instances/{id}")).await;
            answer.status == 200 && answer.body["subStatus"] == status
        })
        .await;
        self.instance(id).await
    }

    /// The number of instances of a definition; in this sub-status, if one is given.
    pub(crate) async fn count(&self, definition: &str, status: Option<&str>) -> u64 {
        let mut body = json!({"definitionId": definition, "page": 0, "pageSize": 1});
        if let Some(status) = status {
            body["subStatus"] = json!(status);
        }
        let answer = self.post("/workflow-instances", &body).await.ok();
        answer["totalCount"].as_u64().unwrap()
    }

    /// The whole journal of an instance.
    pub(crate) async fn journal(&self, id: &str) -> Vec<Value> {
        let answer = self.get(&format!("/workflow-instances/{id}/journal?skip=0&take=1000")).await;
        answer.ok()["items"].as_array().unwrap().clone()
    }
}
