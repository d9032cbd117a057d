//! The best rates of NATS and a database, alone and composed as Staunch composes them, without an
//! engine: the bound with which our figures are compared.
//!
//! It uses both clients directly and not through our adapters: a bound through the adapters would
//! hide their cost.

mod composite;
mod database;
mod group;
mod nats;
mod pace;

pub use pace::Bound;

use pace::MANY;

use std::time::Duration;

/// The addresses of both.
#[derive(Clone, Debug)]
pub struct Target {
    /// A nats-server with JetStream.
    pub nats_url: String,
    /// A database for this measurement alone: tables are created in it and removed.
    pub database_url: String,
}

/// Measures pull, publish and ack on a broker for `length`, with so many in flight.
///
/// # Errors
/// When it cannot be reached or refuses an operation.
pub async fn pull_publish_ack(
    nats_url: &str,
    lanes: usize,
    length: Duration,
) -> anyhow::Result<Bound> {
    let broker = nats::Broker::connect(nats_url).await?;
    composite::measure(&broker, None, composite::Kind::Messages, lanes, length).await
}

/// Measures every bound for `length`. Calls `say` with each result.
///
/// # Errors
/// When one of them cannot be reached or refuses an operation.
pub async fn run(
    target: &Target,
    length: Duration,
    say: &dyn Fn(&Bound),
) -> anyhow::Result<Vec<Bound>> {
    let mut bounds = Vec::new();
    let mut keep = |bound: Bound| {
        say(&bound);
        bounds.push(bound);
    };
    let broker = nats::Broker::connect(&target.nats_url).await?;
    for lanes in [1, MANY] {
        keep(broker.publish(lanes, length).await?);
    }
    keep(broker.pull(length).await?);
    for lanes in [1, MANY] {
        keep(broker.pair(lanes, length).await?);
    }
    let database = database::Database::connect(&target.database_url).await?;
    let sessions = database.sessions();
    for lanes in if sessions > 1 { vec![1, sessions] } else { vec![1] } {
        keep(database.row_by_row(lanes, length).await?);
    }
    keep(database.one_by_one(length).await?);
    keep(group::measure(&database, MANY, length).await?);
    for kind in composite::Kind::ALL {
        keep(composite::measure(&broker, Some(&database), kind, MANY, length).await?);
    }
    let grouped = composite::Kind::Grouped;
    keep(composite::measure(&broker, Some(&database), grouped, 1, length).await?);
    database.close().await?;
    Ok(bounds)
}
