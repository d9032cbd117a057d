//! Users who log in with a name and a password, and the tokens that they get.
//!
//! A login begins a session, a row of the database that every token names. A token is good while
//! its signature, its times and its session are: a logout, a new password, a disabled or removed
//! user and a changed role take effect with the next request, at every node.

pub(crate) mod config;
pub(crate) mod first;
mod guesses;
pub(crate) mod key_file;
pub(crate) mod login;
pub mod password;
pub mod secret;
mod signing;
pub(crate) mod token;

pub use config::IdentityConfig;

use std::sync::Arc;

use password::Hashing;
use signing::SigningKeys;

/// What one ingress keeps for logins; nothing of it outlives the process.
#[derive(Default)]
pub(crate) struct Identity {
    /// The keys that sign and verify tokens.
    pub(crate) keys: SigningKeys,
    /// Limits the passwords that are hashed at the same time.
    pub(crate) hashing: Hashing,
}

impl Identity {
    /// Logins whose keys in the database are encrypted, if there is a master key.
    pub(crate) fn encrypted_by(keeper: Option<Arc<vault::Keeper>>) -> Self {
        Self { keys: SigningKeys::encrypted_by(keeper), ..Self::default() }
    }
}
