//! A receiver of OTLP over HTTP, and the other side of a call. Both keep what they get.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message as _;

/// One span.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    /// The ids of the spans that it is linked to.
    pub(crate) links: Vec<String>,
    fields: BTreeMap<String, String>,
}

impl Span {
    pub(crate) fn field(&self, name: &str) -> Option<&String> {
        self.fields.get(name)
    }
}

/// A server on a thread of its own; it ends with the process.
#[derive(Clone, Debug)]
struct Server {
    url: String,
    got: Arc<Mutex<Vec<HeadAndBody>>>,
}

type HeadAndBody = (String, Vec<u8>);

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, got: Arc::default() };
        let own = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                thread::spawn(move || while own.answer(&stream).is_some() {});
            }
        });
        server
    }

    /// Answers one request; none when the connection is over.
    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let request = request(stream)?;
        self.got.lock().unwrap().push(request);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
    }

    fn got(&self) -> Vec<(String, Vec<u8>)> {
        self.got.lock().unwrap().clone()
    }
}

/// A whole request: its head in lower case, and its body.
fn request(mut stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut whole = Vec::new();
    loop {
        let mut part = [0; 8 * 1024];
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        whole.extend_from_slice(&part[..count]);
        let Some(end) = whole.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&whole[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.map_or(Some(0), |text| text.trim().parse().ok())?;
        if whole.len() >= end + 4 + length {
            return Some((head, whole.split_off(end + 4)));
        }
    }
}

/// The receiver.
pub(crate) struct Collector(Server);

impl Collector {
    pub(crate) fn start() -> Self {
        Self(Server::start())
    }

    pub(crate) fn url(&self) -> String {
        self.0.url.clone()
    }

    /// All spans so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let got = self.0.got();
        let requests = got.iter().filter(|(head, _)| head.starts_with("post /v1/traces"));
        requests.flat_map(|(_, body)| read(body)).collect()
    }
}

fn read(body: &[u8]) -> Vec<Span> {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let mut spans = Vec::new();
    for resource in request.resource_spans {
        let attributes = resource.resource.map(|resource| resource.attributes);
        let service = fields(&attributes.unwrap_or_default())["service.name"].clone();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            spans.push(Span {
                service: service.clone(),
                name: span.name,
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
                fields: fields(&span.attributes),
            });
        }
    }
    spans
}

fn fields(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |one: &KeyValue| {
        let value = match one.value.as_ref()?.value.as_ref()? {
            Value::StringValue(text) => text.clone(),
            other => format!("{other:?}"),
        };
        Some((one.key.clone(), value))
    };
    attributes.iter().filter_map(text).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The other side of a call.
pub(crate) struct Callee(Server);

impl Callee {
    pub(crate) fn start() -> Self {
        Self(Server::start())
    }

    pub(crate) fn url(&self) -> String {
        self.0.url.clone()
    }

    /// The trace context of the call that it got.
    pub(crate) fn traceparent(&self) -> String {
        let got = self.0.got();
        let (head, _) = got.first().unwrap();
        let found = head.lines().find_map(|line| line.strip_prefix("traceparent:"));
        found.unwrap_or_else(|| panic!("no traceparent in {head}")).trim().to_owned()
    }
}
