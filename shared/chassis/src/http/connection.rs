//! One connection: HTTP/1.1, or HTTP/2 where a client with TLS chooses it.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, EXPECT, HeaderValue};
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use model::limits;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use super::linger::Lingering;
use super::rest::{RequestBody, Rest};
use super::stall::Unstalled;
use super::tls::Tls;
use super::{Encrypted, Ending, Peer};

/// Streams of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 128;
/// Bytes of one body that an HTTP/2 client may send before they are read.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// Bytes of all bodies of one HTTP/2 connection that may be sent before they are read.
const CONNECTION_WINDOW_BYTES: u32 = 512 * 1024;
/// The first byte of a TLS handshake.
const HANDSHAKE_BYTE: u8 = 22;
/// The answer to a request without TLS at a port with TLS.
const PLAIN_ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\
    content-length: 50\r\nconnection: close\r\n\r\nthis port is encrypted: use https:// instead here\n";

/// Time in which the first request of a connection arrives when the server stops.
const FIRST_REQUEST_TIME_MAX: Duration = Duration::from_secs(1);

type Stream = Unstalled<Lingering<TcpStream>>;

/// The course of one HTTP/1.1 connection.
#[derive(Debug, Default)]
struct Course {
    /// It has sent a request.
    has_asked: AtomicBool,
    /// Each answer ends it.
    is_leaving: AtomicBool,
}

/// The parts that all connections of one port share.
#[derive(Clone)]
pub(super) struct Front<S> {
    pub(super) service: S,
    pub(super) tls: Option<Tls>,
    /// One permit per handshake in progress, which costs computing time.
    pub(super) handshakes: Arc<Semaphore>,
    pub(super) ending: Ending,
}

impl<S, B> Front<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Serves one connection to its end.
    pub(super) async fn serve(self, stream: TcpStream, peer: Peer) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection could not be set to send at once");
        }
        let ended = match self.tls.clone() {
            None => self.http1(guarded(stream), peer, None).await,
            Some(tls) => match handshake(stream, &tls, &self.handshakes, &self.ending.stop).await {
                Ok(stream) => self.encrypted(stream, peer).await,
                Err(error) => {
                    tracing::debug!(%error, peer = %peer.0, "a TLS handshake failed");
                    return;
                }
            },
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn encrypted(self, stream: TlsStream<Stream>, peer: Peer) -> Result<(), hyper::Error> {
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2".as_slice());
        if is_http2 {
            self.http2(stream, peer).await
        } else {
            self.http1(stream, peer, Some(Encrypted)).await
        }
    }

    async fn http1<T>(
        self,
        stream: T,
        peer: Peer,
        encrypted: Option<Encrypted>,
    ) -> Result<(), hyper::Error>
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits::HEADERS_TIME_MAX)
            .max_header_size(limits::HEADERS_BYTES_MAX);
        let Self { service, ending: Ending { leaving, stop }, .. } = self;
        let course = Arc::new(Course::default());
        let of_answers = Arc::clone(&course);
        let service = service_fn(move |mut request: Request<Incoming>| {
            note(&mut request, peer, encrypted);
            let expects_continue = request.headers().contains_key(EXPECT);
            let rest = Rest::default();
            let of_body = rest.clone();
            let request = request.map(|body| RequestBody::new(body, of_body));
            let answering = service.call(request);
            let course = Arc::clone(&of_answers);
            course.has_asked.store(true, Ordering::Relaxed);
            async move {
                let mut answered = answering.await;
                let is_at_next = rest.read(expects_continue).await;
                if (!is_at_next || course.is_leaving.load(Ordering::Relaxed))
                    && let Ok(response) = &mut answered
                    && response.status() != StatusCode::SWITCHING_PROTOCOLS
                {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                answered
            }
        });
        let serving = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::pin!(serving);
        tokio::select! {
            // First: what is read after it is answered as the last request.
            biased;
            () = leaving.cancelled() => course.is_leaving.store(true, Ordering::Relaxed),
            ended = &mut serving => return ended,
        }
        tokio::select! {
            ended = &mut serving => return ended,
            () = stop.cancelled() => {}
        }
        // A shutdown would close a connection whose first request is on its way. That request's
        // answer ends the connection.
        if !course.has_asked.load(Ordering::Relaxed)
            && let Ok(ended) = timeout(FIRST_REQUEST_TIME_MAX, &mut serving).await
        {
            return ended;
        }
        serving.as_mut().graceful_shutdown();
        serving.await
    }

    /// A connection without a request is closed after [`limits::HEADERS_TIME_MAX`], as with
    /// HTTP/1.1, or [`limits::HTTP2_END_IDLE_TIME`] later where its client does not confirm that; and
    /// every connection after [`limits::HTTP2_TIME_MAX`].
    async fn http2(self, stream: TlsStream<Stream>, peer: Peer) -> Result<(), hyper::Error> {
        let mut builder = http2::Builder::new(Streams);
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(u32::try_from(limits::HEADERS_BYTES_MAX).unwrap_or(u32::MAX))
            .keep_alive_interval(limits::WRITE_TIME_MAX)
            .keep_alive_timeout(limits::WRITE_TIME_MAX);
        let open = Open::default();
        let counted = open.clone();
        let Self { service, ending: Ending { leaving, stop }, .. } = self;
        // A client that has come while the server leaves knows no other yet.
        let end = if leaving.is_cancelled() { stop } else { leaving };
        let service = service_fn(move |mut request: Request<Incoming>| {
            note(&mut request, peer, Some(Encrypted));
            let place = counted.enter();
            let request = request.map(|body| RequestBody::new(body, Rest::default()));
            let answering = service.call(request);
            async move {
                let answered = answering.await;
                answered.map(|response| {
                    response.map(|body| Held { body: Box::pin(body), _place: place })
                })
            }
        });
        let written = stream.get_ref().0.written();
        let serving = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(serving);
        let until = Instant::now() + limits::HTTP2_TIME_MAX;
        tokio::select! {
            ended = &mut serving => return ended,
            () = end.cancelled() => {}
            () = open.idle() => {}
            () = sleep_until(until) => {}
        }
        serving.as_mut().graceful_shutdown();
        // The streams that are open end by themselves. A client that keeps them open is cut off, and
        // one that has none and does not confirm the end.
        tokio::select! {
            ended = timeout(limits::HTTP2_END_TIME_MAX, serving) => ended.unwrap_or(Ok(())),
            () = open.quiet(&written) => Ok(()),
        }
    }
}

async fn handshake(
    stream: TcpStream,
    tls: &Tls,
    handshakes: &Semaphore,
    stop: &CancellationToken,
) -> io::Result<TlsStream<Stream>> {
    let shaking = async {
        let _permit = handshakes.acquire().await.map_err(io::Error::other)?;
        let mut first = [0];
        if stream.peek(&mut first).await? == 1 && first != [HANDSHAKE_BYTE] {
            let mut stream = guarded(stream);
            stream.write_all(PLAIN_ANSWER).await?;
            stream.shutdown().await?;
            return Err(io::Error::other("the client does not speak TLS"));
        }
        TlsAcceptor::from(tls.config()).accept(guarded(stream)).await
    };
    let within = timeout(limits::HANDSHAKE_TIME_MAX, shaking);
    match stop.run_until_cancelled(within).await {
        Some(Ok(shaken)) => shaken,
        Some(Err(_)) => Err(io::ErrorKind::TimedOut.into()),
        None => Err(io::Error::other("the server is stopping")),
    }
}

fn guarded(stream: TcpStream) -> Stream {
    Unstalled::new(Lingering::new(stream, limits::LINGER_TIME_MAX), limits::WRITE_TIME_MAX)
}

fn note(request: &mut Request<Incoming>, peer: Peer, encrypted: Option<Encrypted>) {
    request.extensions_mut().insert(peer);
    if let Some(encrypted) = encrypted {
        request.extensions_mut().insert(encrypted);
    }
}

/// Runs the streams of HTTP/2 connections.
#[derive(Clone, Copy)]
struct Streams;

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        drop(tasks::spawn("http connection", stream));
    }
}

/// The requests of a connection that are not answered to their end.
#[derive(Clone, Default)]
struct Open(Arc<AtomicUsize>);

impl Open {
    fn enter(&self) -> OpenPlace {
        self.0.fetch_add(1, Ordering::Relaxed);
        OpenPlace(Self(Arc::clone(&self.0)))
    }

    /// Completes when there was no request at two looks in a row.
    async fn idle(&self) {
        let mut was_idle = false;
        loop {
            tokio::time::sleep(limits::HEADERS_TIME_MAX / 2).await;
            let is_idle = self.0.load(Ordering::Relaxed) == 0;
            if is_idle && was_idle {
                return;
            }
            was_idle = is_idle;
        }
    }

    /// Completes when there was no request at two looks in a row, and nothing was sent in between:
    /// the rest of an answer may be on its way after its request has ended.
    async fn quiet(&self, written: &AtomicU64) {
        let mut before = None;
        loop {
            tokio::time::sleep(limits::HTTP2_END_IDLE_TIME / 2).await;
            let sent = written.load(Ordering::Relaxed);
            let is_idle = self.0.load(Ordering::Relaxed) == 0;
            if is_idle && before == Some(sent) {
                return;
            }
            before = is_idle.then_some(sent);
        }
    }
}

/// One request; counted until it is dropped.
struct OpenPlace(Open);

impl Drop for OpenPlace {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body whose request is open until the body is sent.
struct Held<B> {
    body: Pin<Box<B>>,
    _place: OpenPlace,
}

impl<B: Body> Body for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        self.body.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}
