//! `staunch demo`: shows in a minute what Staunch does. It starts a real broker, a database and an
//! executor, kills the executor while it works, lets a timer fire, approves an order by URL and
//! starts another by NATS. Each line reports a step.

mod approval;
mod crash;
mod kills;
mod message;
mod stage;

use chassis::{Life, Settings};
use clap::Args;
use ingress::Demo;

use crate::output::{self, Format};
use crate::{Failure, local, say};

use stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Ends after the last step; the exit code is 0 only if every step worked
    #[arg(long)]
    pub(crate) exit: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Runs every step; then runs until Ctrl-C, and kills the executor as often as somebody asks for it
/// over HTTP, or ends if `exit` is set.
///
/// # Errors
/// When a step fails.
pub(crate) async fn run(
    args: &DemoArgs,
    mut settings: Settings,
    life: Life,
    format: Format,
) -> Result<(), Failure> {
    local::on_a_free_port(&mut settings)?;
    let stop = life.stop();
    let (demo, stand) = Demo::open();
    let mut stage = Stage::start(&args.settings, settings, life, demo).await?;
    let mut told = tokio::select! {
        told = tell(&mut stage) => told,
        () = stop.cancelled() => Err(Failure::failed("interrupted before the last step")),
    };
    if told.is_ok() && format == Format::Json {
        output::json(&stage.document())?;
    }
    if told.is_ok() && !args.exit {
        stage.next_steps();
        told = tokio::select! {
            ended = kills::serve(&mut stage, stand) => ended,
            () = stop.cancelled() => Ok(()),
        };
    }
    stage.stop().await?;
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
