//! The bytes of a connection, with or without TLS.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Connects to `host:port`.
    pub(crate) async fn connect(
        host: &str,
        tls: Option<&Arc<ClientConfig>>,
    ) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(host).await;
        let stream = stream.with_context(|| format!("nothing listens on {host}"))?;
        stream.set_nodelay(true)?;
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_owned();
        let name = ServerName::try_from(name).context("the host is no name of a certificate")?;
        let shaken = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
        let shaken = shaken.with_context(|| format!("no TLS with {host}"))?;
        Ok(Self::Tls(Box::new(shaken)))
    }

    /// Sends all of these bytes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Appends the bytes that are there, and returns their number; 0 at the end.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read_buf(buffer).await,
            Self::Tls(stream) => stream.read_buf(buffer).await,
        }
    }
}
