//! A stream that is not closed while its client still sends.
//!
//! A server may answer before it has read the whole body, as with 413. If it then closes the
//! connection, the system discards what arrives and resets the connection, and the client may lose
//! the answer. So the server says that it sends nothing more, and reads until the client ends, for
//! a limited time (RFC 9112, section 9.6).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The number of bytes of one read, whose content is dropped.
const READ_BYTES: usize = 16 * 1024;

/// A stream whose shutdown waits until the client has ended, or for `time_max`.
pub(super) struct Lingering<T> {
    stream: T,
    time_max: Duration,
    /// The end of the wait; set when everything is sent.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<T> Lingering<T> {
    pub(super) fn new(stream: T, time_max: Duration) -> Self {
        Self { stream, time_max, deadline: None }
    }
}

impl<T: AsyncRead + Unpin> Lingering<T> {
    /// Reads and drops what the client sends; ready when it has ended.
    fn drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; READ_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Lingering<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.deadline.is_none() {
            match Pin::new(&mut self.stream).poll_shutdown(cx) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
        let time_max = self.time_max;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time_max)));
        // A client that never stops sending is not read beyond the deadline.
        if deadline.as_mut().poll(cx).is_ready() || self.drain(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }
}
