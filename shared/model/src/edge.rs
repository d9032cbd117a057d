//! Time and randomness, as the inner crates ask for them. The crates at the edge implement them.

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Draws ids, seeds and numbers.
pub trait Chance: Send + Sync {
    /// An id that no one else has: 32 hexadecimal digits, those of one process in rising order.
    fn new_id(&self) -> String;

    /// 256 bits that cannot be guessed.
    fn seed(&self) -> [u8; 32];

    /// 64 bits, to spread actions that would otherwise happen at the same moment.
    fn number(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.seed();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}
