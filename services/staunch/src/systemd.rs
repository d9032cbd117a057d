//! Reports to systemd, where it has started this process as `Type=notify`: that the node is ready,
//! that it runs (`WatchdogSec=`), and that it stops.

use std::time::Duration;

use chassis::Life;
use sd_notify::NotifyState;
use tokio::runtime::Handle;

/// Waits for the end of a node that is ready, and reports to systemd meanwhile. Without systemd it
/// only waits.
pub(crate) async fn beside(life: &Life, ended: impl Future<Output = ()>) {
    tell(NotifyState::Ready);
    let reporting = async {
        report(life).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = ended => {}
        () = reporting => {}
    }
}

/// Reports that the process ends as soon as it leaves, and, until it stops, that it runs.
async fn report(life: &Life) {
    let leaving = async {
        life.leaving().cancelled().await;
        tell(NotifyState::Stopping);
    };
    tokio::join!(leaving, watchdog(life));
}

/// Reports until the process stops, twice in each period of the watchdog.
async fn watchdog(life: &Life) {
    let stop = life.stop();
    if let Some(period) = sd_notify::watchdog_enabled() {
        while stop.run_until_cancelled(tokio::time::sleep(period / 2)).await.is_some() {
            if runs_tasks(period / 4).await {
                tell(NotifyState::Watchdog);
            }
        }
    }
}

/// Whether the threads of this process run tasks.
async fn runs_tasks(within: Duration) -> bool {
    tokio::time::timeout(within, Handle::current().spawn(async {})).await.is_ok()
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "systemd was not told the state of this process");
    }
}
