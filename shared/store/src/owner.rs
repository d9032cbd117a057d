//! Whose an API key is.

use crate::{Error, Identity, Keys};

/// The owner in the database of the API key with this hash, in words, whether the key is still good or
/// not; none if the database does not have it.
///
/// # Errors
/// See [`Error`].
pub async fn key_owner<S: Keys + Identity + ?Sized>(
    store: &S,
    hash: &str,
) -> Result<Option<String>, Error> {
    if let Some(key) = store.key(hash).await? {
        return Ok(Some(format!("the API key {:?} ({})", key.name, key.id)));
    }
    let application = store.application_with_key(hash).await?;
    Ok(application.map(|application| format!("the application {:?}", application.name)))
}
