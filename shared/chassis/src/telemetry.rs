//! Logs, traces and metrics of a process.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

use anyhow::Context as _;
use opentelemetry::metrics::AsyncInstrument;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus::{Registry, TextEncoder};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

use crate::{LogFormat, Settings};

/// The buckets of histograms of times, in seconds. The defaults of OpenTelemetry are meant for
/// milliseconds.
pub const SECONDS: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// The telemetry of this process; flush it at the end with [`Telemetry::stop`].
pub struct Telemetry {
    tracer: Option<SdkTracerProvider>,
    meter: SdkMeterProvider,
}

impl Telemetry {
    /// Starts logging to stderr, metrics, and tracing if an endpoint is configured. Call it once,
    /// before the runtime starts: the exporter's client must not be created inside a runtime.
    ///
    /// # Errors
    /// When the log filter cannot be read or the exporter cannot be built.
    pub fn start(name: &'static str, settings: &Settings) -> anyhow::Result<Self> {
        let resource = Resource::builder()
            .with_service_name(format!("staunch-{name}"))
            .with_attribute(KeyValue::new("service.version", crate::version()))
            .with_attribute(KeyValue::new("service.instance.id", settings.node.clone()))
            .build();
        let meter = meter(resource.clone())?;
        global::set_meter_provider(meter.clone());
        count_tasks();
        let tracer = match &settings.otlp_endpoint {
            Some(endpoint) => Some(tracer(endpoint, resource)?),
            None => None,
        };
        subscribe(settings, tracer.as_ref())?;
        Ok(Self { tracer, meter })
    }

    /// Sends the remaining traces, and stops the meters.
    pub fn stop(self) {
        if let Some(Err(error)) = self.tracer.map(|tracer| tracer.shutdown()) {
            tracing::warn!(%error, "the last traces may be lost");
        }
        if let Err(error) = self.meter.shutdown() {
            tracing::warn!(%error, "the meters could not be stopped");
        }
    }
}

fn meter(resource: Resource) -> anyhow::Result<SdkMeterProvider> {
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(REGISTRY.get_or_init(Registry::new).clone())
        .scope_info_enabled(false)
        .build()
        .context("build the Prometheus exporter")?;
    Ok(SdkMeterProvider::builder().with_reader(exporter).with_resource(resource).build())
}

/// Exports the panics and restarts of the background tasks of this process.
fn count_tasks() {
    let meter = global::meter("staunch");
    let counter = |name, about, value: fn(&tasks::Figure) -> u64| {
        let observe = move |observer: &dyn AsyncInstrument<u64>| {
            for figure in tasks::figures() {
                observer.observe(value(&figure), &[KeyValue::new("task", figure.task)]);
            }
        };
        let counter = meter.u64_observable_counter(name).with_description(about);
        counter.with_callback(observe).build();
    };
    let about = "Runs of a background task after a panic";
    counter("staunch_task_restarts", about, |one| one.restarts);
    counter("staunch_task_panics", "Panics of background tasks", |one| one.panics);
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
    let filter = EnvFilter::try_new(&settings.log)
        .with_context(|| format!("read the log filter {:?}", settings.log))?;
    let logs = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let logs = match settings.log_format {
        LogFormat::Text => logs.boxed(),
        LogFormat::Json => logs.json().flatten_event(true).boxed(),
    };
    // The exporter's own client is not traced: its spans would cause more spans.
    let traced = EnvFilter::new("info,opentelemetry=off,hyper=off,hyper_util=off,reqwest=off");
    let traces = tracer.map(|provider| {
        tracing_opentelemetry::layer().with_tracer(provider.tracer("staunch")).with_filter(traced)
    });
    let subscriber = tracing_subscriber::registry().with(traces).with(logs.with_filter(filter));
    if subscriber.try_init().is_err() {
        tracing::debug!("logging was set up already");
    }
    Ok(())
}

/// All metrics of this process in Prometheus' text format; empty before [`Telemetry::start`].
#[must_use]
pub fn metrics_text() -> String {
    let Some(registry) = REGISTRY.get() else { return String::new() };
    let mut text = String::new();
    if let Err(error) = TextEncoder::new().encode_utf8(&registry.gather(), &mut text) {
        tracing::error!(%error, "the metrics could not be written");
    }
    text
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
    fn without_tracing_nothing_travels_and_nonsense_is_ignored() {
        assert_eq!(inject(), None);
        assert!(extract("nonsense").is_none());
        set_parent(&Span::none(), Some("00-0-0-0"));
        link(&Span::none(), None);
    }

    #[test]
    fn counted_things_appear_in_the_text() {
        let provider = meter(Resource::builder_empty().build()).unwrap();
        let counter = opentelemetry::metrics::MeterProvider::meter(&provider, "test")
            .u64_counter("staunch_tests")
            .build();
        counter.add(3, &[KeyValue::new("kind", "unit")]);
        let text = metrics_text();
        assert!(text.contains("staunch_tests_total{kind=\"unit\"} 3"), "{text}");
    }
}
