//! A stream whose writes have a time limit: a client that does not read its answer cannot keep its
//! connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream that fails with `TimedOut` when a write makes no progress for too long.
pub(super) struct Unstalled<T> {
    stream: T,
    time_max: Duration,
    /// The end of the pending write's time.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes that were written.
    written: Arc<AtomicU64>,
}

impl<T> Unstalled<T> {
    pub(super) fn new(stream: T, time_max: Duration) -> Self {
        Self { stream, time_max, deadline: None, written: Arc::default() }
    }

    /// The number of bytes that were written, as it grows.
    pub(super) fn written(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.written)
    }

    fn count(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            let bytes = u64::try_from(*bytes).unwrap_or(u64::MAX);
            self.written.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Passes a write's result on, or fails a write that is pending for too long.
    fn within<R>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let time_max = self.time_max;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(time_max)));
        match deadline.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client does not read the answer",
            ))),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Unstalled<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Unstalled<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(&written);
        self.within(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.count(&written);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.within(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_makes_no_progress_fails() {
        let (near, _far) = tokio::io::duplex(4);
        let mut near = Unstalled::new(near, Duration::from_secs(30));
        let error = near.write_all(b"more than four").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
