//! `staunch demo`: the first five minutes. A real broker, a real database, an executor that is
//! killed in the middle of its work, a timer, an approval by URL, a start by plain NATS; each
//! line says what happened.

mod approval;
mod crash;
mod message;
mod stage;

use chassis::{Life, Settings};
use clap::Args;

use crate::{Failure, local, say};

use stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Ends when the story is told: with status 0 only if all of it worked
    #[arg(long)]
    pub(crate) exit: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Tells the story; stays up until Ctrl-C afterwards, unless it is to exit.
///
/// # Errors
/// When anything in it does not work.
pub(crate) async fn run(exit: bool, mut settings: Settings, life: Life) -> Result<(), Failure> {
    local::on_a_free_port(&mut settings)?;
    let stop = life.stop();
    let mut stage = Stage::set(settings, life).await?;
    let told = tokio::select! {
        told = tell(&mut stage) => told,
        () = stop.cancelled() => Err(Failure::failed("interrupted before the story was told")),
    };
    if told.is_ok() && !exit {
        stage.next_steps();
        stop.cancelled().await;
    }
    stage.strike().await?;
    told
}

async fn tell(stage: &mut Stage) -> Result<(), Failure> {
    stage.apply_example().await?;

    say::heading("A large order, by HTTP: it waits for a timer, then for a person");
    let order = approval::order(stage).await?;

    say::heading("Many small orders; the executor is killed while it works on them");
    crash::kill_in_the_middle(stage).await?;

    say::heading("The large order again: its timer has fired, now the approval");
    approval::approve(stage, order).await?;

    say::heading("A start by a plain NATS message");
    message::publish(stage).await
}
