//! The executor that people kill over HTTP, such as from Studio: another one takes its place a moment
//! later.

use std::time::Duration;

use ingress::{DemoExecutor, Stand, Standing};

use super::stage::Stage;
use crate::Failure;

/// The time without an executor: long enough to see that work waits.
const WITHOUT: Duration = Duration::from_secs(1);

/// Kills and replaces the executor as often as somebody asks for it, until ingress ends.
///
/// # Errors
/// When an executor cannot be killed, or no other one starts.
pub(super) async fn serve(stage: &mut Stage, mut stand: Stand) -> Result<(), Failure> {
    stand.is(Standing::Running(stage.executor()?));
    while let Some(wish) = stand.wish().await {
        let killed = stage.kill_executor().await?;
        stand.is(Standing::Replacing);
        let DemoExecutor { node, pid } = &killed;
        stage.line(&format!("{node} (pid {pid}) was killed (SIGKILL): somebody asked for it"));
        wish.done(killed);
        tokio::time::sleep(WITHOUT).await;
        let executor = stage.start_executor().await?;
        let DemoExecutor { node, pid } = &executor;
        stage.line(&format!("{node} has taken over: pid {pid}"));
        stand.is(Standing::Running(executor));
    }
    Ok(())
}
