//! Secrets in clear: the only crate that encrypts, decrypts and seals them.
//!
//! Each value is encrypted by a key of its own (AES-256-GCM), and that key is wrapped by a master key,
//! which only the configuration has. [`Keeper`] reads and writes secrets in the database; [`Opened`] is
//! what it read, as the engine's port: values, and the key that seals what scripts compute from them.
//! No value is ever in an error, a `Debug` text or a log line.

mod aead;
mod error;
mod keeper;
mod master;
mod opened;
mod signing;
mod start;
mod watched;

pub use error::Error;
pub use keeper::{Keeper, NAME_CHARS_MAX, SECRETS_MAX, VALUE_BYTES_MAX, normal, shown};
pub use master::Master;
pub use opened::Opened;
pub use signing::is_encrypted_key;
pub use start::check_start;
pub use watched::Watched;
