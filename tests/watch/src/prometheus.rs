//! A Prometheus that scrapes nodes, and its queries.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use testkit::{TestPrometheus, eventually};

const START_MAX: Duration = Duration::from_secs(60);

/// A Prometheus and a client of it.
pub(crate) struct Prometheus {
    server: TestPrometheus,
    http: Client,
}

impl Prometheus {
    /// Scrapes these addresses every second; evaluates these rules. `None` if it is not installed.
    pub(crate) async fn start(targets: &[String], rules: Option<&str>) -> Option<Self> {
        let mut config = json!({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "scrape_configs": [{"job_name": "staunch", "static_configs": [{"targets": targets}]}],
        });
        if rules.is_some() {
            config["rule_files"] = json!(["rules.yaml"]);
        }
        let files: Vec<_> = rules.map(|rules| ("rules.yaml", rules)).into_iter().collect();
        let server = testkit::prometheus(&config.to_string(), &files)?;
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        let started = Self { server, http };
        eventually("every node is scraped", START_MAX, async || {
            let found = started.try_query("sum(up)").await.unwrap_or_default();
            found.first().is_some_and(|up| *up == targets.len() as f64)
        })
        .await;
        Some(started)
    }

    /// The values of an instant query.
    pub(crate) async fn query(&self, query: &str) -> Vec<f64> {
        let asked = self.try_query(query).await;
        asked.unwrap_or_else(|error| panic!("{query}: {error}\n{}", self.server.said()))
    }

    async fn try_query(&self, query: &str) -> Result<Vec<f64>, String> {
        let answer = self.ask("/api/v1/query", &[("query", query)]).await?;
        if answer["status"] != "success" {
            return Err(answer.to_string());
        }
        let found = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        let value = |one: &Value| one["value"][1].as_str().and_then(|text| text.parse().ok());
        Ok(found.iter().filter_map(value).collect())
    }

    /// The names of the alerts that fire.
    pub(crate) async fn firing(&self) -> Vec<String> {
        let answer = self.ask("/api/v1/alerts", &[]).await.unwrap();
        let alerts = answer["data"]["alerts"].as_array().cloned().unwrap_or_default();
        let fires = alerts.iter().filter(|alert| alert["state"] == "firing");
        fires.map(|alert| alert["labels"]["alertname"].as_str().unwrap().to_owned()).collect()
    }

    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, String> {
        // Signs in a query are written as their bytes.
        let encode =
            |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let query: Vec<_> =
            query.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let url = format!("{}{path}?{}", self.server.url(), query.join("&"));
        let answer = self.http.get(url).send().await.map_err(|error| error.to_string())?;
        answer.json().await.map_err(|error| error.to_string())
    }
}

/// The metrics that a query asks for; fails for one that is not declared.
pub(crate) fn metrics_in(query: &str) -> Vec<&'static str> {
    let declared: Vec<_> =
        meter::declarations().into_iter().flat_map(|(_, metrics)| metrics).collect();
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let asked = words.filter(|word| word.starts_with("staunch_"));
    let known = |word: &str| {
        let found = declared.iter().find(|metric| {
            let rest = word.strip_prefix(metric.name);
            let is_histogram = metric.kind == meter::Kind::Histogram;
            match rest {
                Some("") => !is_histogram,
                Some("_bucket" | "_sum" | "_count") => is_histogram,
                _ => false,
            }
        });
        found.unwrap_or_else(|| panic!("{query}: there is no metric {word}")).name
    };
    asked.map(known).collect()
}
