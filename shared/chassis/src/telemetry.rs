//! Logs, traces and metrics of a process.

mod lines;
mod recent;
mod sampling;

use std::collections::HashMap;
use std::io::IsTerminal as _;

use anyhow::Context as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, reload};

use crate::log_filter::{self, LogFilter};
use crate::{Clock as _, LogFormat, Settings, SystemClock};
use lines::Lines;
use recent::Tee;
pub(crate) use recent::recent_lines;

/// The telemetry of this process; flush it at the end with [`Telemetry::stop`].
pub struct Telemetry {
    tracer: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts logging to stderr, metrics, and tracing if an endpoint is configured. Call it once,
    /// before the runtime starts: the exporter's client must not be created inside a runtime.
    ///
    /// # Errors
    /// When the log filter cannot be read or the exporter cannot be built.
    pub fn start(name: &'static str, settings: &Settings) -> anyhow::Result<Self> {
        let resource = Resource::builder()
            .with_service_name(service(name, &Resource::builder().build()))
            .with_attribute(KeyValue::new("service.version", crate::version()))
            .with_attribute(KeyValue::new("service.instance.id", settings.node.clone()))
            .build();
        describe(settings);
        meter::at_scrape(count_tasks);
        let tracer = match &settings.otlp_endpoint {
            Some(endpoint) => Some(tracer(&endpoint.0, resource)?),
            None => None,
        };
        subscribe(settings, tracer.as_ref())?;
        if let Some(flaw) = sampling::flaw().filter(|_| tracer.is_some()) {
            tracing::warn!("{flaw}");
        }
        Ok(Self { tracer })
    }

    /// Sends the remaining traces.
    pub fn stop(self) {
        if let Some(Err(error)) = self.tracer.map(|tracer| tracer.shutdown()) {
            tracing::warn!(%error, "the last traces may be lost");
        }
    }
}

/// The name of the service in traces: that of the environment (`OTEL_SERVICE_NAME`, or `service.name`
/// in `OTEL_RESOURCE_ATTRIBUTES`), which is in `detected`; otherwise a process of several roles has
/// the name of the program.
fn service(name: &str, detected: &Resource) -> String {
    let given = detected.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    match given {
        Some(given) if !given.is_empty() && !given.starts_with("unknown_service") => given,
        _ if name == "staunch" => name.to_owned(),
        _ => format!("staunch-{name}"),
    }
}

/// Shows which program this is.
fn describe(settings: &Settings) {
    let labels = [crate::version(), crate::commit().unwrap_or_default(), settings.node.as_str()];
    meter::BUILD_INFO.set(&labels, 1);
    let now = SystemClock.now().as_millis();
    meter::START_TIME.set(&[], u64::try_from(now).unwrap_or_default() / 1_000);
}

/// Takes over the panics and restarts of the background tasks of this process.
fn count_tasks() -> bool {
    for figure in tasks::figures() {
        meter::TASK_PANICS.raise(&[figure.task], figure.panics);
        meter::TASK_RESTARTS.raise(&[figure.task], figure.restarts);
    }
    true
}

fn tracer(endpoint: &str, resource: Resource) -> anyhow::Result<SdkTracerProvider> {
    let endpoint = endpoint.trim_end_matches('/');
    let endpoint = if endpoint.ends_with("/v1/traces") {
        endpoint.to_owned()
    } else {
        format!("{endpoint}/v1/traces")
    };
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(&endpoint)
        .build()
        .with_context(|| format!("build the OTLP exporter for {endpoint}"))?;
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

fn subscribe(settings: &Settings, tracer: Option<&SdkTracerProvider>) -> anyhow::Result<()> {
    let filter = log_filter::read(&settings.log)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("read the log filter {:?}", settings.log))?;
    let logs = fmt::layer()
        .with_writer(|| Tee(std::io::stderr()))
        .with_ansi(std::io::stderr().is_terminal());
    let node = settings.node.clone();
    let logs = match settings.log_format {
        LogFormat::Text => logs.boxed(),
        LogFormat::Json => {
            logs.with_ansi(false).event_format(Lines { node }).fmt_fields(JsonFields::new()).boxed()
        }
    };
    // Steps within a burst are spans of the target `spans`, which cost nothing without a collector.
    // The exporter's own client is not traced: its spans would cause more spans.
    let traced =
        EnvFilter::new("info,spans=debug,opentelemetry=off,hyper=off,hyper_util=off,reqwest=off");
    let traces = tracer.map(|provider| {
        tracing_opentelemetry::layer().with_tracer(provider.tracer("staunch")).with_filter(traced)
    });
    let (filter, handle) = reload::Layer::new(filter);
    let subscriber = tracing_subscriber::registry().with(traces).with(logs.with_filter(filter));
    if subscriber.try_init().is_err() {
        tracing::debug!("logging was set up already");
        return Ok(());
    }
    let apply = move |filter: EnvFilter| handle.reload(filter).map_err(|error| error.to_string());
    LogFilter::keep(&settings.log, Box::new(apply));
    Ok(())
}

/// The `traceparent` of the current span, to be sent with a message; None if nothing is traced.
#[must_use]
pub fn inject() -> Option<String> {
    let context = Span::current().context();
    if !context.span().span_context().is_valid() {
        return None;
    }
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&context, &mut headers);
    headers.remove("traceparent")
}

/// Makes a span that has not been entered yet a child of the span that a `traceparent` names. Does
/// nothing if there is none, or it cannot be read.
pub fn set_parent(span: &Span, traceparent: Option<&str>) {
    if let Some(context) = traceparent.and_then(extract)
        && let Err(error) = span.set_parent(context)
    {
        tracing::trace!(?error, "the span has no place for a parent");
    }
}

/// Links a span to the one that a `traceparent` names. Does nothing if there is none, or it cannot
/// be read.
pub fn link(span: &Span, traceparent: Option<&str>) {
    if let Some(context) = traceparent.and_then(extract) {
        span.add_link(context.span().span_context().clone());
    }
}

/// The id of the trace that a `traceparent` names: the field `trace` of log lines.
#[must_use]
pub fn trace_id(traceparent: &str) -> Option<&str> {
    traceparent.split('-').nth(1).filter(|id| id.len() == 32)
}

fn extract(traceparent: &str) -> Option<Context> {
    let headers = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    let valid = context.span().span_context().is_valid();
    valid.then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_survives_the_journey() {
        let provider = SdkTracerProvider::builder().build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("burst");
            set_parent(&span, Some(PARENT));
            link(&span, Some(PARENT));
            let carried = span.in_scope(inject).unwrap();
            assert!(carried.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"), "{carried}");
            assert_ne!(carried, PARENT);
        });
    }

    #[test]
    fn the_environment_may_name_the_service() {
        let given = Resource::builder_empty().with_service_name("shop").build();
        let unknown = Resource::builder_empty().with_service_name("unknown_service").build();
        assert_eq!(service("staunch", &given), "shop");
        assert_eq!(service("staunch", &unknown), "staunch");
        assert_eq!(service("executor", &unknown), "staunch-executor");
    }

    #[test]
    fn without_tracing_nothing_travels_and_nonsense_is_ignored() {
        assert_eq!(inject(), None);
        assert!(extract("nonsense").is_none());
        assert_eq!((trace_id("nonsense"), trace_id("a-b")), (None, None));
        assert_eq!(trace_id(PARENT), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        set_parent(&Span::none(), Some("00-0-0-0"));
        link(&Span::none(), None);
    }
}
