//! The port for health, metrics, the last log lines and the log filter of one process:
//! `--admin-listen`.
//!
//! It has its own thread and runtime, so that load on the process does not affect it. Health is
//! answered to every caller. Metrics, the log and its filter are answered on loopback. Elsewhere
//! metrics need the key for metrics or the API key of the configuration, and the log and its filter
//! that API key.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, WWW_AUTHENTICATE};
use hyper::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use model::limits;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::log_filter::LogFilter;
use crate::telemetry::recent_lines;
use crate::{Health, Life, LiveKey, Secret, http};

/// The time in which the process's own runtime has to answer a check.
const CHECK_TIME_MAX: Duration = Duration::from_secs(5);
/// The path of the log filter.
const LOG_LEVEL: &str = "/log-level";
/// The path of the last log lines.
const LOG: &str = "/log";
/// Bytes of a change of the log filter.
const CHANGE_BYTES_MAX: usize = 8 * 1024;
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// The keys of callers off loopback.
#[derive(Clone, Debug, Default)]
pub struct AdminKeys {
    /// The API key of the configuration: gives everything.
    pub api: Option<LiveKey>,
    /// The key for metrics alone.
    pub metrics: Option<LiveKey>,
}

/// The port for health and metrics; dropping it closes the port.
pub struct Admin {
    address: SocketAddr,
    _stop: DropGuard,
}

impl Admin {
    /// Opens the port. `keys` are for callers off loopback. Called on the runtime of the process,
    /// where the checks run.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn start(
        address: SocketAddr,
        keys: AdminKeys,
        life: &Life,
        health: Health,
    ) -> anyhow::Result<Self> {
        let listener = StdListener::bind(address)
            .with_context(|| format!("listen on {address} (admin-listen)"))?;
        listener.set_nonblocking(true).context("prepare the admin port")?;
        let address = listener.local_addr().context("read the address of the admin port")?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start the runtime of the admin port")?;
        let stop = CancellationToken::new();
        let desk = Arc::new(Desk {
            is_loopback: address.ip().is_loopback(),
            keys,
            life: life.clone(),
            health,
            process: Handle::current(),
        });
        let stopping = stop.clone();
        let answering = move || {
            let (listener, desk, stop) =
                (listener.try_clone(), Arc::clone(&desk), stopping.clone());
            async move {
                if let Err(error) = answer_all(listener, desk, stop).await {
                    tracing::error!(%error, "the admin port does not answer");
                }
            }
        };
        let answering = tasks::supervised("admin port", stop.clone(), answering);
        std::thread::Builder::new()
            .name("admin".to_owned())
            .spawn(move || runtime.block_on(answering))
            .context("start the thread of the admin port")?;
        tracing::info!(%address, "health and metrics are answered on the admin port");
        Ok(Self { address, _stop: stop.drop_guard() })
    }

    /// The address that it answers on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn answer_all(
    listener: std::io::Result<StdListener>,
    desk: Arc<Desk>,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener?)?;
    let service = service_fn(move |request: Request<http::RequestBody>| {
        let desk = Arc::clone(&desk);
        async move {
            let is_change = *request.method() == Method::PUT && request.uri().path() == LOG_LEVEL;
            let answer = match is_change {
                true => desk.change_log(request).await,
                false => desk.answer(&request).await,
            };
            Ok::<_, Infallible>(answer)
        }
    });
    let ending = http::Ending::at_once(stop);
    http::serve(listener, None, service, limits::ADMIN_CONNECTIONS_MAX, ending).await;
    Ok(())
}

/// The state from which the admin port answers.
struct Desk {
    is_loopback: bool,
    keys: AdminKeys,
    life: Life,
    health: Health,
    /// The runtime of the process.
    process: Handle,
}

impl Desk {
    async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return problem(StatusCode::METHOD_NOT_ALLOWED, "use GET");
        }
        match request.uri().path() {
            "/health/live" => self.live().await,
            "/health/ready" => self.ready().await,
            "/metrics" => self.refusal(request.headers()).unwrap_or_else(|| {
                let kind = "text/plain; version=0.0.4; charset=utf-8";
                response(StatusCode::OK, kind, meter::text())
            }),
            LOG_LEVEL => self.refusal_of_log(request.headers()).unwrap_or_else(log_level),
            LOG => self.refusal_of_log(request.headers()).unwrap_or_else(log),
            "/" => {
                let text = "Staunch: /health/live, /health/ready, /metrics, /log and /log-level of \
                            this process\n";
                response(StatusCode::OK, TEXT, text.to_owned())
            }
            _ => problem(
                StatusCode::NOT_FOUND,
                "this port has /health/live, /health/ready, /metrics, /log and /log-level only",
            ),
        }
    }

    /// Whether the runtime of the process runs tasks.
    async fn live(&self) -> Response<Full<Bytes>> {
        match tokio::time::timeout(CHECK_TIME_MAX, self.process.spawn(async {})).await {
            Ok(_) => status(StatusCode::OK, &json!({"status": "Healthy"})),
            Err(_) => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "the process runs no task: it is overloaded or blocked",
            ),
        }
    }

    /// Whether the process has started, is not stopping, and passes all its checks.
    async fn ready(&self) -> Response<Full<Bytes>> {
        if !self.life.is_ready() {
            let why = if self.life.is_leaving() { "stopping" } else { "starting" };
            return problem(StatusCode::SERVICE_UNAVAILABLE, &format!("this process is {why}"));
        }
        let health = self.health.clone();
        let checks = async move { health.check().await };
        let checking = self.process.spawn(tasks::caught("health check", checks));
        match tokio::time::timeout(CHECK_TIME_MAX, checking).await {
            Ok(Ok(Ok(report))) if report.is_healthy() => status(StatusCode::OK, &json!(report)),
            Ok(Ok(Ok(report))) => status(StatusCode::SERVICE_UNAVAILABLE, &json!(report)),
            Ok(Ok(Err(_)) | Err(_)) | Err(_) => {
                problem(StatusCode::SERVICE_UNAVAILABLE, "the checks do not come to an end")
            }
        }
    }

    /// Changes what this process logs: `{"set": "executor=debug"}`, or `{}` for the filter of its
    /// settings.
    async fn change_log<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: hyper::body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if let Some(refused) = self.refusal_of_log(request.headers()) {
            return refused;
        }
        let body = Limited::new(request.into_body(), CHANGE_BYTES_MAX).collect().await;
        let body = match body {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                let detail = format!("the body cannot be read: {error}");
                return problem(StatusCode::BAD_REQUEST, &detail);
            }
        };
        let changed = match serde_json::from_slice::<Value>(&body) {
            Ok(Value::Object(members)) => match members.get("set") {
                None | Some(Value::Null) => LogFilter::reset(),
                Some(Value::String(text)) => LogFilter::set(text),
                Some(_) => Err("`set` is no text".to_owned()),
            },
            _ => Err("the body is no JSON object such as {\"set\": \"executor=debug\"}".to_owned()),
        };
        match changed {
            Ok(()) => log_level(),
            Err(detail) => problem(StatusCode::BAD_REQUEST, &detail),
        }
    }

    /// The refusal of a caller that may not see the metrics.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response<Full<Bytes>>> {
        let AdminKeys { api, metrics } = &self.keys;
        self.refused(headers, &[api, metrics], "metrics", "metrics-key, or the api-key")
    }

    /// The refusal of a caller that may not see the log, and see and change its filter.
    fn refusal_of_log(&self, headers: &HeaderMap) -> Option<Response<Full<Bytes>>> {
        self.refused(headers, &[&self.keys.api], "the log and its filter", "api-key")
    }

    fn refused(
        &self,
        headers: &HeaderMap,
        keys: &[&Option<LiveKey>],
        what: &str,
        settings: &str,
    ) -> Option<Response<Full<Bytes>>> {
        if self.is_loopback {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let detail = "the Host header names no loopback address: use http://127.0.0.1";
            return (!is_loopback(host)).then(|| problem(StatusCode::FORBIDDEN, detail));
        }
        let keys: Vec<Secret> = keys.iter().copied().flatten().map(LiveKey::now).collect();
        if keys.is_empty() {
            let detail = format!(
                "{what}: not for everybody; configure the {settings} and send it, or set \
                 admin-listen to a loopback address"
            );
            return Some(problem(StatusCode::FORBIDDEN, &detail));
        }
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|text| text.trim().split_once(' '));
        let is_known = given.is_some_and(|(scheme, given)| {
            let is_it =
                |key: &Secret| bool::from(given.trim().as_bytes().ct_eq(key.expose().as_bytes()));
            scheme.eq_ignore_ascii_case("ApiKey") && keys.iter().any(is_it)
        });
        if is_known {
            return None;
        }
        let detail =
            format!("{what}: needs the {settings}; send it as Authorization: ApiKey <key>");
        let mut refused = problem(StatusCode::UNAUTHORIZED, &detail);
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey"));
        Some(refused)
    }
}

/// True if a `Host` header names a loopback address or name.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let bare = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if rest.is_empty() || rest.starts_with(':') => address,
        _ => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let bare = bare.trim_end_matches('.').to_ascii_lowercase();
    let address: Result<IpAddr, _> = bare.parse();
    address.is_ok_and(|address| address.is_loopback())
        || bare == "localhost"
        || bare.ends_with(".localhost")
}

fn log_level() -> Response<Full<Bytes>> {
    status(
        StatusCode::OK,
        &json!({"filter": LogFilter::text(), "configured": LogFilter::configured()}),
    )
}

/// The last log lines, oldest first, and the number of older ones that are forgotten.
fn log() -> Response<Full<Bytes>> {
    let (lines, forgotten) = recent_lines();
    status(StatusCode::OK, &json!({"lines": lines, "forgotten": forgotten}))
}

fn status(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    response(status, JSON, body.to_string())
}

fn problem(status: StatusCode, detail: &str) -> Response<Full<Bytes>> {
    let title = status.canonical_reason().unwrap_or("Error");
    let body = json!({"title": title, "status": status.as_u16(), "detail": detail});
    response(status, "application/problem+json", body.to_string())
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(is_loopback: bool, keys: &[&str]) -> Desk {
        let life = Life::new(Duration::from_secs(1));
        let (health, process) = (Health::new(), Handle::current());
        let mut keys = keys.iter().map(|key| LiveKey::from(Secret::new(*key)));
        let keys = AdminKeys { api: keys.next(), metrics: keys.next() };
        Desk { is_loopback, keys, life, health, process }
    }

    async fn ask(desk: &Desk, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        desk.answer(&request.body(()).unwrap()).await.status().as_u16()
    }

    #[tokio::test]
    async fn metrics_off_loopback_need_the_key_and_health_needs_none() {
        const KEY: &str = "a-key-that-is-configured";
        let given = [("authorization", "ApiKey a-key-that-is-configured")];
        let wrong = [("authorization", "ApiKey another")];
        let (local, own, page) =
            ([("host", "127.0.0.1:9"), ("x", "y")], desk(true, &[]), [("host", "evil.example")]);
        assert_eq!(ask(&own, "/metrics", &local).await, 200);
        assert_eq!(ask(&own, "/metrics", &page).await, 403);
        let open = desk(false, &[]);
        assert_eq!(ask(&open, "/metrics", &given).await, 403);
        assert_eq!(ask(&open, "/health/live", &[]).await, 200);
        let keyed = desk(false, &["a-key-for-metrics-alone", KEY]);
        assert_eq!(ask(&keyed, "/metrics", &given).await, 200);
        let metrics = [("authorization", "ApiKey a-key-for-metrics-alone")];
        assert_eq!(ask(&keyed, "/metrics", &metrics).await, 200);
        assert_eq!(ask(&keyed, "/metrics", &wrong).await, 401);
        assert_eq!(ask(&keyed, "/metrics", &[]).await, 401);
        assert_eq!(ask(&keyed, "/elsewhere", &[]).await, 404);
    }

    #[tokio::test]
    async fn the_log_filter_is_changed_with_the_api_key_and_not_with_that_for_metrics() {
        const KEY: &str = "a-key-that-is-configured";
        const METRICS: &str = "a-key-for-metrics-alone";
        let change = async |desk: &Desk, headers: &[(&str, &str)], body: &str| {
            let mut request = Request::builder().method(Method::PUT).uri(LOG_LEVEL);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let body = Full::new(Bytes::from(body.to_owned()));
            desk.change_log(request.body(body).unwrap()).await.status().as_u16()
        };
        let (own, keyed) = (desk(true, &[]), desk(false, &[KEY, METRICS]));
        let local = [("host", "127.0.0.1:9")];
        assert_eq!(change(&own, &[("host", "evil.example")], "{}").await, 403);
        assert_eq!(change(&keyed, &[], "{}").await, 401);
        let metrics = [("authorization", "ApiKey a-key-for-metrics-alone")];
        assert_eq!(change(&keyed, &metrics, "{}").await, 401);
        assert_eq!(
            (ask(&keyed, "/metrics", &metrics).await, ask(&keyed, LOG_LEVEL, &metrics).await),
            (200, 401)
        );
        let given = [("authorization", "ApiKey a-key-that-is-configured")];
        for path in [LOG_LEVEL, LOG] {
            assert_eq!(ask(&keyed, path, &given).await, 200);
            assert_eq!(ask(&keyed, path, &metrics).await, 401);
            assert_eq!(ask(&own, path, &local).await, 200);
            assert_eq!(ask(&own, path, &[("host", "evil.example")]).await, 403);
        }
        for body in ["", "[]", r#"{"set": 7}"#, r#"{"set": "executor=loud"}"#] {
            assert_eq!(change(&own, &local, body).await, 400, "{body}");
        }
        let long = format!(r#"{{"set": "{}"}}"#, "a".repeat(CHANGE_BYTES_MAX));
        assert_eq!(change(&own, &local, &long).await, 400);
        assert_eq!(ask(&keyed, LOG_LEVEL, &[]).await, 401);
        assert_eq!(ask(&own, LOG_LEVEL, &local).await, 200);
    }

    #[tokio::test]
    async fn ready_says_starting_then_ready_then_why_not() {
        let desk = desk(true, &[]);
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 503);
        desk.life.ready();
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 200);
        desk.life.begin_leaving();
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 503);
        assert_eq!(ask(&desk, "/health/live", &[]).await, 200);
        let desk = self::desk(true, &[]);
        desk.life.ready();
        desk.health.add("database", || async { Err("gone".to_owned()) });
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 503);
    }

    #[test]
    fn hosts_are_loopback_by_name_or_address() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:5001", true),
            ("127.0.0.1:5001", true),
            ("127.8.0.1", true),
            ("[::1]:5001", true),
            ("app.localhost:1", true),
            ("evil.example", false),
            ("localhost.evil.example:5001", false),
            ("[::1].evil.example", false),
            ("[::1].evil.example:5001", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }
}
