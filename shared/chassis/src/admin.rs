//! The port for health and metrics of one process: `--admin-listen`.
//!
//! It has its own thread and runtime, so that load on the process does not affect it. Health is
//! answered to every caller. Metrics are answered on loopback; elsewhere they need the configured
//! API key.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
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

use crate::{Health, Life, Secret, http};

/// The time in which the process's own runtime has to answer a check.
const CHECK_TIME_MAX: Duration = Duration::from_secs(5);
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// The port for health and metrics; dropping it closes the port.
pub struct Admin {
    address: SocketAddr,
    _stop: DropGuard,
}

impl Admin {
    /// Opens the port. `key` is the API key that gives the metrics to callers off loopback. Called
    /// on the runtime of the process, where the checks run.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn start(
        address: SocketAddr,
        key: Option<Secret>,
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
            key,
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
    let service = service_fn(move |request: Request<Incoming>| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(desk.answer(&request).await) }
    });
    http::serve(listener, None, service, limits::ADMIN_CONNECTIONS_MAX, stop).await;
    Ok(())
}

/// The state from which the admin port answers.
struct Desk {
    is_loopback: bool,
    key: Option<Secret>,
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
                response(StatusCode::OK, kind, crate::metrics_text())
            }),
            "/" => {
                let text = "Staunch: /health/live, /health/ready and /metrics of this process\n";
                response(StatusCode::OK, TEXT, text.to_owned())
            }
            _ => problem(
                StatusCode::NOT_FOUND,
                "this port has /health/live, /health/ready and /metrics only",
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
            let why = if self.life.is_draining() { "stopping" } else { "starting" };
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

    /// The refusal of a caller that may not see the metrics.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response<Full<Bytes>>> {
        if self.is_loopback {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let detail = "the Host header names no loopback address: use http://127.0.0.1";
            return (!is_loopback(host)).then(|| problem(StatusCode::FORBIDDEN, detail));
        }
        let Some(key) = &self.key else {
            return Some(problem(
                StatusCode::FORBIDDEN,
                "metrics are not for everybody: configure api-key and send it, or set \
                 admin-listen to a loopback address",
            ));
        };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|text| text.trim().split_once(' '));
        let is_known = given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("ApiKey")
                && bool::from(given.trim().as_bytes().ct_eq(key.expose().as_bytes()))
        });
        if is_known {
            return None;
        }
        let detail = "metrics need the configured API key: send Authorization: ApiKey <key>";
        let mut refused = problem(StatusCode::UNAUTHORIZED, detail);
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

    fn desk(is_loopback: bool, key: Option<&str>) -> Desk {
        let life = Life::new(Duration::from_secs(1));
        let (health, process) = (Health::new(), Handle::current());
        Desk { is_loopback, key: key.map(Secret::new), life, health, process }
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
            ([("host", "127.0.0.1:9"), ("x", "y")], desk(true, None), [("host", "evil.example")]);
        assert_eq!(ask(&own, "/metrics", &local).await, 200);
        assert_eq!(ask(&own, "/metrics", &page).await, 403);
        let open = desk(false, None);
        assert_eq!(ask(&open, "/metrics", &given).await, 403);
        assert_eq!(ask(&open, "/health/live", &[]).await, 200);
        let keyed = desk(false, Some(KEY));
        assert_eq!(ask(&keyed, "/metrics", &given).await, 200);
        assert_eq!(ask(&keyed, "/metrics", &wrong).await, 401);
        assert_eq!(ask(&keyed, "/metrics", &[]).await, 401);
        assert_eq!(ask(&keyed, "/elsewhere", &[]).await, 404);
    }

    #[tokio::test]
    async fn ready_says_starting_then_ready_then_why_not() {
        let desk = desk(true, None);
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 503);
        desk.life.ready();
        assert_eq!(ask(&desk, "/health/ready", &[]).await, 200);
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
