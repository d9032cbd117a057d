//! What a node checks before it works.

use store::Store;

use crate::{Error, Master, shown};

/// What is left to do when a key is lost.
const LAST_RESORT: &str = "Only if that key is lost for good: `staunch secret rm --all` removes all \
                           secrets and what was made of them, and nothing brings them back";

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
             master key. To keep them, give it secrets-key-file or STAUNCH_SECRETS_KEY with the key \
             that they were written with (`staunch dev` keeps its key in secrets.key beside the \
             database). {LAST_RESORT}"
        )));
    };
    for row in rows {
        master.unwrap(&row.wrapped_key, &row.name).map_err(|error| match error {
            Error::Locked(why) => Error::Locked(format!(
                "{why}, in the file of secrets-key-file; then `staunch secret rekey` lets the newest \
                 key decrypt everything. {LAST_RESORT}"
            )),
            other => other,
        })?;
    }
    Ok(())
}
