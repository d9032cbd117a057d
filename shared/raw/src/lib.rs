//! What NATS and a database can do at best, alone and composed as Staunch composes them, without an
//! engine: the bound that figures are ratios to.
//!
//! It speaks to both clients directly and not through our adapters: a bound that ran through them
//! would hide what they cost.

mod composite;
mod database;
mod group;
mod nats;
mod pace;

pub use pace::Bound;

use std::time::Duration;

/// In flight where there are many.
const MANY: usize = 256;

/// Where both are.
#[derive(Clone, Debug)]
pub struct Target {
    /// A nats-server with JetStream.
    pub nats_url: String,
    /// A database of one's own: tables are made in it, and removed.
    pub database_url: String,
}

/// Measures every bound, each this long. `say` hears each as it comes.
///
/// # Errors
/// When one of both cannot be reached, or refuses something.
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
        keep(composite::measure(&broker, &database, kind, MANY, length).await?);
    }
    keep(composite::measure(&broker, &database, composite::Kind::Grouped, 1, length).await?);
    database.close().await?;
    Ok(bounds)
}
