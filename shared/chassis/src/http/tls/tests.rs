//! The server with real certificates, and clients with good, wrong and no ones.

use std::convert::Infallible;
use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::http::{Encrypted, Ending, RequestBody, serve};

/// An authority, and what it signs.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key, in PEM.
    fn signs(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

struct Server {
    address: SocketAddr,
    folder: TempDir,
    authority: Authority,
    tls: Tls,
    files: TlsFiles,
    stop: CancellationToken,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Server {
    async fn start(clients: Option<(&Authority, ClientAuth)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let path = |name: &str| folder.path().join(name);
        let client_ca = clients.map(|(authority, _)| {
            std::fs::write(path("clients.pem"), &authority.pem).unwrap();
            path("clients.pem")
        });
        let client_auth = clients.map_or(ClientAuth::Required, |(_, auth)| auth);
        let files =
            TlsFiles { cert: path("cert.pem"), key: path("key.pem"), client_ca, client_auth };
        write(&files, &authority.signs("localhost"));
        let tls = Tls::read(files.clone()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let service = service_fn(async |request: Request<RequestBody>| {
            assert!(request.extensions().get::<Encrypted>().is_some());
            let said = Bytes::from(format!("ok {}", request.uri().path()));
            Ok::<_, Infallible>(Response::new(Full::new(said)))
        });
        tokio::spawn(serve(listener, Some(tls.clone()), service, 2, Ending::at_once(stop.clone())));
        Self { address, folder, authority, tls, files, stop }
    }

    /// Looks at the files, as a connection does after the interval.
    fn look(&self) {
        self.tls.0.lock().unwrap().look();
    }

    async fn connect(
        &self,
        client: Option<&(String, String)>,
        alpn: &[&str],
    ) -> TlsStream<TcpStream> {
        self.try_connect(client, alpn).await.unwrap()
    }

    async fn try_connect(
        &self,
        client: Option<&(String, String)>,
        alpn: &[&str],
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.pem.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// The answer to a request with this certificate, or an error where it is refused.
    async fn ask(&self, client: Option<&(String, String)>) -> io::Result<String> {
        let mut stream = self.try_connect(client, &[]).await?;
        stream.write_all(b"GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }
}

fn write(files: &TlsFiles, (cert, key): &(String, String)) {
    std::fs::write(&files.cert, cert).unwrap();
    std::fs::write(&files.key, key).unwrap();
}

/// One request and its answer on a connection that stays open.
async fn again(stream: &mut TlsStream<TcpStream>) -> String {
    stream.write_all(b"GET /b HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok /b") {
        let count = stream.read_buf(&mut answer).await.unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap()
}

fn shown(stream: &TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

#[tokio::test]
async fn requests_are_answered_over_tls() {
    let server = Server::start(None).await;
    let answer = server.ask(None).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok /a"), "{answer}");
}

#[tokio::test]
async fn a_client_may_choose_http2() {
    let server = Server::start(None).await;
    let stream = server.connect(None, &["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let serving = tokio::spawn(connection);
    let requests = (0..20).map(|number| {
        let mut sender = sender.clone();
        tokio::spawn(async move {
            let request = Request::get(format!("https://localhost/{number}"));
            let request = request.body(Empty::<Bytes>::new()).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.version(), Version::HTTP_2);
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, format!("ok /{number}"));
        })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.unwrap();
    }
    drop(sender);
    serving.await.unwrap().unwrap();
}

/// The test waits for the real time in which idle connections are closed.
#[tokio::test]
async fn an_idle_http2_connection_gives_its_place_back() {
    let server = Server::start(None).await;
    let mut idle = Vec::new();
    for _ in 0..2 {
        let stream = server.connect(None, &["h2"]).await;
        let connected: (hyper::client::conn::http2::SendRequest<Empty<Bytes>>, _) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .unwrap();
        idle.push((connected.0, tokio::spawn(connected.1)));
    }
    // Both places are taken, so this is answered only after one of them is free again.
    assert!(server.ask(None).await.unwrap().ends_with("ok /a"));
}

/// The preface of HTTP/2, and a frame of SETTINGS without any.
const BEGIN: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// The test waits for the real time in which idle connections are closed.
#[tokio::test]
async fn an_http2_client_that_confirms_nothing_gives_its_place_back() {
    let server = Server::start(None).await;
    let began = Instant::now();
    let mut silent = Vec::new();
    for _ in 0..2 {
        let mut stream = server.connect(None, &["h2"]).await;
        stream.write_all(BEGIN).await.unwrap();
        silent.push(stream);
    }
    assert!(server.ask(None).await.unwrap().ends_with("ok /a"));
    let most =
        limits::HEADERS_TIME_MAX + 2 * limits::HTTP2_END_IDLE_TIME + limits::WRITE_TIME_MAX / 2;
    assert!(began.elapsed() >= limits::HEADERS_TIME_MAX, "both places are taken");
    assert!(began.elapsed() < most, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_client_without_a_good_certificate_is_refused() {
    let (good, evil) = (Authority::new(), Authority::new());
    let server = Server::start(Some((&good, ClientAuth::Required))).await;
    assert!(server.ask(Some(&good.signs("client"))).await.unwrap().ends_with("ok /a"));
    assert!(server.ask(Some(&evil.signs("client"))).await.is_err());
    assert!(server.ask(None).await.is_err());
    let server = Server::start(Some((&good, ClientAuth::Optional))).await;
    assert!(server.ask(Some(&good.signs("client"))).await.unwrap().ends_with("ok /a"));
    assert!(server.ask(Some(&evil.signs("client"))).await.is_err());
    assert!(server.ask(None).await.unwrap().ends_with("ok /a"));
}

#[tokio::test]
async fn changed_files_are_used_without_closing_a_connection() {
    let server = Server::start(None).await;
    let mut old = server.connect(None, &["http/1.1"]).await;
    assert!(again(&mut old).await.contains("200"));
    let next = server.authority.signs("localhost");
    write(&server.files, &next);
    server.look();
    let new = server.connect(None, &["http/1.1"]).await;
    assert_ne!(shown(&new), shown(&old));
    assert!(again(&mut old).await.contains("200"));
    drop((old, new));
    let in_use = shown(&server.connect(None, &[]).await);
    let other = server.authority.signs("localhost");
    for (cert, key) in [(&other.0, &next.1), (&other.0, &"no key".to_owned())] {
        write(&server.files, &(cert.clone(), key.clone()));
        server.look();
        assert_eq!(shown(&server.connect(None, &[]).await), in_use, "a bad pair changes nothing");
    }
    std::fs::remove_file(server.folder.path().join("key.pem")).unwrap();
    server.look();
    assert_eq!(shown(&server.connect(None, &[]).await), in_use);
    write(&server.files, &other);
    server.look();
    assert_ne!(shown(&server.connect(None, &[]).await), in_use, "the pair is whole again");
}

#[tokio::test]
async fn a_client_without_tls_reads_why_it_is_refused() {
    let server = Server::start(None).await;
    let mut plain = TcpStream::connect(server.address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("https://"), "{answer}");
}

/// The test waits for the real time of a handshake.
#[tokio::test]
async fn a_silent_client_gives_its_connection_back() {
    let server = Server::start(None).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    assert!(server.ask(None).await.unwrap().ends_with("ok /a"));
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let authority = Authority::new();
    let (good, other) = (authority.signs("localhost"), authority.signs("localhost"));
    let check = |cert: &str, key: &str, client_ca: Option<&str>, expected: &str| {
        let client_ca = client_ca.map(|text| {
            std::fs::write(path("clients.pem"), text).unwrap();
            path("clients.pem")
        });
        let (cert_path, key_path) = (path("cert.pem"), path("key.pem"));
        let client_auth = ClientAuth::Required;
        let files = TlsFiles { cert: cert_path, key: key_path, client_ca, client_auth };
        write(&files, &(cert.to_owned(), key.to_owned()));
        let error = Tls::read(files).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("PRIVATE"), "{error}");
    };
    check("", &good.1, None, "cert.pem of tls-cert is of no use: it has no certificate");
    check(&good.0, "", None, "key.pem of tls-key is of no use: it has no private key");
    check(&good.0, &good.0, None, "it has no private key");
    check(&good.0, &other.1, None, "it cannot be used with the key");
    check(&good.0, &good.1, Some("nothing"), "clients.pem of tls-client-ca");
    let large = "x".repeat(limits::TLS_FILE_BYTES_MAX + 1);
    check(&large, &good.1, None, "more than 1048576 bytes");
    let (cert, key) = (path("missing.pem"), path("key.pem"));
    let files = TlsFiles { cert, key, client_ca: None, client_auth: ClientAuth::Required };
    assert!(Tls::read(files).unwrap_err().to_string().contains("missing.pem of tls-cert"));
}
