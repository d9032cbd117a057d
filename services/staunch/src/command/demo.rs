//! `staunch demo`: the first five minutes. A real broker, a real database, an executor that is
//! killed in the middle of its work, a timer, an approval by URL, a start by plain NATS; each
//! line says what happened.

mod approval;
mod crash;
mod message;
mod stage;

use clap::Args;

use crate::{Failure, say};

use stage::Stage;

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Ends when the story is told: with status 0 only if all of it worked
    #[arg(long)]
    exit: bool,
    /// Where the HTTP API listens
    #[arg(long, default_value = "127.0.0.1:5001", value_name = "ADDRESS")]
    listen: std::net::SocketAddr,
}

/// Tells the story; stays up until Ctrl-C afterwards, unless it is to exit.
///
/// # Errors
/// When anything in it does not work.
pub(crate) async fn run(args: DemoArgs) -> Result<(), Failure> {
    let mut stage = Stage::set(args.listen, args.exit).await?;
    let told = tokio::select! {
        told = tell(&mut stage) => told,
        () = stage.interrupted() => Ok(()),
    };
    if told.is_ok() && !args.exit {
        stage.next_steps();
        stage.interrupted().await;
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
