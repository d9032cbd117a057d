//! Memory for the states of instances: what is read counts until the tenure ends.

use std::sync::Arc;
use std::time::Duration;

use model::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::stop::Stop;

/// Smaller states are not counted.
const COUNTED_FROM: usize = 64 * 1024;
/// Longest wait for room. Then the command is for another node, or for later.
const PATIENCE: Duration = Duration::from_secs(10);

/// The memory of one state, given back with the last copy; none for a small one.
pub(crate) type Room = Option<Arc<OwnedSemaphorePermit>>;

/// The memory of one executor for states.
pub(crate) struct Rooms {
    bytes: Arc<Semaphore>,
}

impl Rooms {
    /// Memory for states of so many bytes together, and for at least one of any size.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes: Arc::new(Semaphore::new(bytes_max.max(limits::STATE_BYTES_MAX))) }
    }

    /// Room for a state of this size, if there is some now.
    pub(crate) fn now(&self, bytes: usize) -> Option<Room> {
        let Some(permits) = counted(bytes) else { return Some(None) };
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(permits).ok()?;
        Some(Some(Arc::new(permit)))
    }

    /// Waits for room for a state of this size.
    pub(crate) async fn wait(&self, bytes: usize) -> Result<Room, Stop> {
        let Some(permits) = counted(bytes) else { return Ok(None) };
        let permit = timeout(PATIENCE, Arc::clone(&self.bytes).acquire_many_owned(permits)).await;
        match permit {
            Ok(Ok(permit)) => Ok(Some(Arc::new(permit))),
            Ok(Err(_)) | Err(_) => Err(Stop::later(format!(
                "its state has {bytes} bytes, and this executor works on as many as it may"
            ))),
        }
    }
}

/// The permits for a state of this size; none for one that is not counted.
fn counted(bytes: usize) -> Option<u32> {
    let bytes = bytes.min(limits::STATE_BYTES_MAX);
    u32::try_from(bytes).ok().filter(|_| bytes >= COUNTED_FROM)
}
