//! The connections of the process that ingress works with.

use std::sync::Arc;

use bus::{Bus, Presence};
use catalog::Catalog;
use chassis::{Chance, Clock, Trail};
use engine::Engine;
use store::Store;

/// The connections of the process that ingress works with. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The message bus.
    pub bus: Arc<dyn Bus>,
    /// Compiles definitions and finds their triggers.
    pub engine: Arc<Engine>,
    /// Published versions.
    pub catalog: Catalog,
    /// This node among the others.
    pub presence: Presence,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and seeds.
    pub chance: Arc<dyn Chance>,
    /// Receives the point that each request has reached; unused in production.
    pub trail: Trail,
}
