//! Memory for the states of instances. A large state is read only when there is room for it, and the
//! room is held for as long as the state is in memory.
//!
//! Nobody who holds room waits for room, or for something that comes only when others have had room: what
//! is held is given back first. So those with room always come to an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Bytes of the largest state that is not counted.
const UNCOUNTED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the states that are in memory at the same time: one of the largest, or many small ones.
const BYTES_MAX: usize = limits::STATE_BYTES_MAX;

/// The memory of one service for states.
#[derive(Debug)]
pub struct Rooms {
    bytes: Arc<Semaphore>,
    /// The number of those who wait for room now, and the largest number.
    waiting: AtomicUsize,
    waiting_max: usize,
}

/// Room for the state of one instance. Without a permit it is for a state that is not counted.
#[derive(Debug, Default)]
pub struct Room(Option<OwnedSemaphorePermit>);

/// There was no room for a state in time, or too many wait for room already.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "its state has {state_bytes} bytes and waits for memory: this service has large states of at most \
     {max} bytes together in memory",
    max = BYTES_MAX
)]
pub struct NoRoom {
    state_bytes: usize,
}

/// Counts a wait for as long as it lasts.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Room {
    /// Bytes of the largest state for which there is room.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        match self.permits() {
            // Also for one that is larger than it may be.
            BYTES_MAX.. => usize::MAX,
            permits => permits.max(UNCOUNTED_BYTES_MAX),
        }
    }

    /// It is for a state that is counted.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.permits() > 0
    }

    fn permits(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

impl Rooms {
    /// At most `waiting_max` may wait for room at the same time.
    #[must_use]
    pub fn new(waiting_max: usize) -> Self {
        let bytes = Arc::new(Semaphore::new(BYTES_MAX));
        Self { bytes, waiting: AtomicUsize::new(0), waiting_max: waiting_max.max(1) }
    }

    /// Waits for room for a state of this size, for at most this time. The room that the caller has is
    /// given back first. Those who wait get room in their order.
    ///
    /// # Errors
    /// [`NoRoom`] when there is none in time, or too many wait.
    pub async fn wait(
        &self,
        room: &mut Room,
        state_bytes: usize,
        patience: Duration,
    ) -> Result<(), NoRoom> {
        *room = Room::default();
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        // Those who wait take the place of others, who need no room.
        if before >= self.waiting_max {
            return Err(NoRoom { state_bytes });
        }
        let permit = Arc::clone(&self.bytes).acquire_many_owned(number(counted(state_bytes)));
        match timeout(patience, permit).await {
            Ok(Ok(permit)) => {
                *room = Room(Some(permit));
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(NoRoom { state_bytes }),
        }
    }

    /// Makes the room fit a state of this size, and never waits; false if there is no room for it now.
    pub fn resize(&self, room: &mut Room, state_bytes: usize) -> bool {
        let (wanted, held) = (counted(state_bytes), room.permits());
        if wanted == 0 {
            *room = Room::default();
            return true;
        }
        if let (Some(permit), Some(surplus)) = (&mut room.0, held.checked_sub(wanted)) {
            drop(permit.split(surplus));
            return true;
        }
        let missing = number(wanted.saturating_sub(held));
        let Ok(more) = Arc::clone(&self.bytes).try_acquire_many_owned(missing) else {
            return false;
        };
        match &mut room.0 {
            Some(permit) => permit.merge(more),
            None => room.0 = Some(more),
        }
        true
    }

    /// Whether a state of this size may stay in memory until the next command of its instance: there is
    /// room for it, and it does not count or nobody else waits for room.
    pub fn keeps(&self, room: &mut Room, state_bytes: usize) -> bool {
        let fits = self.resize(room, state_bytes);
        fits && (!room.is_counted() || self.waiting() == 0)
    }

    /// The number of those who wait for room now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Bytes of the states for which there is room now.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.bytes.available_permits()
    }
}

/// The bytes for which a state of this size counts.
fn counted(state_bytes: usize) -> usize {
    if state_bytes > UNCOUNTED_BYTES_MAX { state_bytes.min(BYTES_MAX) } else { 0 }
}

/// The bytes as a number of permits, of which there are [`BYTES_MAX`] at most.
fn number(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;
    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn room_grows_and_shrinks_with_the_state() {
        let rooms = Rooms::new(1);
        let (mut own, mut other) = (Room::default(), Room::default());
        assert!(rooms.resize(&mut own, UNCOUNTED_BYTES_MAX) && !own.is_counted());
        assert_eq!(own.bytes_max(), UNCOUNTED_BYTES_MAX);
        assert!(rooms.resize(&mut own, 5 * MIB) && rooms.resize(&mut other, 3 * MIB));
        assert_eq!((own.bytes_max(), other.bytes_max()), (5 * MIB, 3 * MIB));
        assert!(!rooms.resize(&mut own, 6 * MIB), "all is taken");
        assert_eq!(own.bytes_max(), 5 * MIB, "it has what it had");
        assert!(rooms.resize(&mut other, MIB) && rooms.resize(&mut own, 7 * MIB));
        assert!(rooms.resize(&mut other, 0) && rooms.resize(&mut own, 9 * MIB));
        assert_eq!(own.bytes_max(), usize::MAX, "the whole room is for any state");
        drop(own);
        assert_eq!(rooms.free_bytes(), BYTES_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_gives_back_first_and_has_patience_and_there_are_only_so_many() {
        let rooms = Rooms::new(1);
        let (mut own, mut other) = (Room::default(), Room::default());
        rooms.wait(&mut own, 5 * MIB, PATIENCE).await.unwrap();
        rooms.wait(&mut own, 8 * MIB, Duration::ZERO).await.unwrap();
        assert!(rooms.keeps(&mut own, 8 * MIB));
        let waits = rooms.wait(&mut other, MIB, PATIENCE);
        let meanwhile = async {
            assert_eq!(rooms.waiting(), 1);
            assert!(!rooms.keeps(&mut own, 8 * MIB), "another one waits");
            let mut small = Room::default();
            assert!(rooms.keeps(&mut small, 1));
            rooms.wait(&mut small, MIB, PATIENCE).await.unwrap_err();
        };
        let began = tokio::time::Instant::now();
        let (waited, ()) = tokio::join!(waits, meanwhile);
        waited.unwrap_err();
        assert!(began.elapsed() >= PATIENCE);
        assert!(rooms.keeps(&mut own, 8 * MIB), "nobody waits any more");
        assert_eq!(rooms.waiting(), 0);
    }
}
