//! A client of one node's HTTP API.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use testkit::eventually;

/// A client of one node.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    http: Client,
    url: String,
}

impl Api {
    pub(crate) fn new(url: &str) -> Self {
        // Another test of this process may have installed it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        Self { http, url: url.to_owned() }
    }

    /// Its host and port, for Prometheus.
    pub(crate) fn target(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// The metrics.
    pub(crate) async fn metrics(&self) -> String {
        let answer = self.http.get(format!("{}/metrics", self.url)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap()
    }

    /// The status of the answer at this path.
    pub(crate) async fn status(&self, path: &str) -> u16 {
        self.http.get(format!("{}{path}", self.url)).send().await.unwrap().status().as_u16()
    }

    /// Posts below the API; the status and the body.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.traced(path, body, None).await
    }

    /// As [`Api::post`], as a part of this trace.
    pub(crate) async fn traced(
        &self,
        path: &str,
        body: &Value,
        traceparent: Option<&str>,
    ) -> (u16, Value) {
        let mut request = self.http.post(format!("{}/elsa/api{path}", self.url)).json(body);
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.unwrap();
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
    }

    /// Imports and publishes a definition.
    pub(crate) async fn publish(&self, definition: &Value) {
        let id = definition["definitionId"].as_str().unwrap();
        let paths = [
            "/workflow-definitions/import".to_owned(),
            format!("/workflow-definitions/{id}/publish"),
        ];
        for path in paths {
            let (status, body) = self.post(&path, definition).await;
            assert!((200..300).contains(&status), "{path}: {status} {body}");
        }
    }

    /// Starts an instance; returns its id when the start is accepted.
    pub(crate) async fn start(&self, definition: &str) -> String {
        let path = format!("/workflow-definitions/{definition}/dispatch");
        let (status, body) = self.post(&path, &json!({})).await;
        assert!((200..300).contains(&status), "{status} {body}");
        body["workflowInstanceId"].as_str().unwrap().to_owned()
    }

    /// The number of instances of a definition with this sub-status.
    pub(crate) async fn count(&self, definition: &str, status: &str) -> u64 {
        let body =
            json!({"definitionId": definition, "subStatus": status, "page": 0, "pageSize": 1});
        let (_, answer) = self.post("/workflow-instances", &body).await;
        answer["totalCount"].as_u64().unwrap_or_default()
    }

    /// Waits until this many instances of a definition have this sub-status.
    pub(crate) async fn reaches(&self, definition: &str, status: &str, count: u64) {
        let what = format!("{count} of {definition} are {status}");
        eventually(&what, Duration::from_secs(60), async || {
            self.count(definition, status).await >= count
        })
        .await;
    }
}
