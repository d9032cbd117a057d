//! What a node checks before it works.

use store::Store;

use crate::{Error, Master, shown};

/// Refuses a node whose master keys do not decrypt the secrets of the database, or that has none.
///
/// # Errors
/// When a key is missing, or the database fails.
pub async fn check_start(store: &dyn Store, master: Option<&Master>) -> Result<(), Error> {
    let rows = store.secrets().await?;
    let Some(master) = master else {
        if rows.is_empty() {
            return Ok(());
        }
        let count = rows.iter().filter(|row| shown(row)).count();
        return Err(Error::Locked(format!(
            "the database has {count} secrets and a key of the installation, and this node has no \
             master key: give it secrets-key-file or STAUNCH_SECRETS_KEY, or remove them all with \
             `staunch secret rm --all`"
        )));
    };
    for row in rows {
        master.unwrap(&row.wrapped_key, &row.name)?;
    }
    Ok(())
}
