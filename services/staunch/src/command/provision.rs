//! `staunch provision`: makes the streams, the consumer and the buckets.

use chassis::Settings;
use clap::Args;

use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct ProvisionArgs {
    /// Copies of everything: 1 for one server, 3 for a cluster
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) replicas: usize,
    /// Changes nothing; says what is missing or differs
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Creates what is missing and brings what is there into line, or only looks.
///
/// # Errors
/// When the broker does not answer, or something cannot be made or differs.
pub(crate) async fn run(replicas: usize, check: bool, settings: &Settings) -> Result<(), Failure> {
    let bus = node::connect(settings).await?;
    if !check {
        bus.provision(replicas).await?;
    }
    bus.verify().await?;
    let status = bus.status().await?;
    for stream in &status.streams {
        let (name, replicas, messages) = (&stream.name, stream.replicas, stream.messages);
        say::data(&format!("{name:<24} replicas {replicas}  messages {messages}"))?;
    }
    say::talk(&format!("nats-server {} has everything that Staunch needs", status.version));
    bus.close().await;
    Ok(())
}
