//! The signals that ask a command to end, for commands that clean up first.

/// Completes on SIGINT or SIGTERM.
#[cfg(unix)]
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};

    let (int, term) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut int), Ok(mut term)) = (int, term) else {
        tracing::warn!("signals cannot be watched: an interrupt ends at once");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
    }
}

/// Completes on Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
