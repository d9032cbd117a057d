//! Where the parts of payloads rest outside of the database: in a JetStream object store, in a folder
//! or in an S3-compatible store. One part is one object, of the name `<id>/<number>`.

mod bucket;
mod files;

use std::path::Path as Folder;
use std::sync::Arc;

use async_trait::async_trait;
use bus::Outside;
use bytes::Bytes;
use object_store::ObjectStore;
use objects::Unusable;
use store::{Nameless, Store};

use crate::Error;
use bucket::Bucket;
use files::Files;

/// The text of a place that is the database itself.
const DATABASE: &str = "database";
/// The text of a place that is a JetStream object store.
const NATS: &str = "nats";
/// The id of what is written to see whether a place can be written.
const PROBE: &str = "staunch-doctor";

/// The parts of payloads in one place.
#[async_trait]
pub(crate) trait Shelf: Send + Sync {
    /// Writes a part; once it returns, the part outlives a crash. Writing it again changes nothing.
    async fn write(&self, id: &str, number: u32, bytes: Bytes) -> Result<(), String>;

    /// A part; none if there is none of this number.
    async fn read(&self, id: &str, number: u32) -> Result<Option<Bytes>, String>;

    /// Removes all parts of an id. It is no error if there are none, and none is left behind if it is
    /// repeated after a failure.
    async fn remove(&self, id: &str) -> Result<(), String>;
}

/// The places that the setting `payload-store` names: the first one gets new payloads, and payloads
/// are read from each. None: all payloads are in the database.
#[derive(Clone, Debug, Default)]
pub struct Places(Vec<(Arc<str>, Kind)>);

#[derive(Clone, Debug)]
enum Kind {
    Database,
    Nats,
    Objects {
        store: Arc<dyn ObjectStore>,
        /// The folder that they are in; none for a bucket.
        folder: Option<Arc<Folder>>,
    },
}

impl Places {
    /// The places of these texts: `database`, `nats`, `s3://bucket/prefix`, or a folder, which is made if
    /// it is missing. Whether they answer is not asked.
    ///
    /// # Errors
    /// [`Error::Place`] for a text that names no place, such as `files:/x`, and for a place that is named
    /// twice.
    pub fn open(texts: &[String]) -> Result<Self, Error> {
        Self::check(texts)?;
        let open = |text: &String| {
            let name = name_of(text);
            let kind = match name {
                DATABASE => Kind::Database,
                NATS => Kind::Nats,
                name => Kind::Objects {
                    store: objects::open(name).map_err(|error| unusable(text, &error))?,
                    folder: (!name.contains("://")).then(|| Arc::from(Folder::new(name))),
                },
            };
            Ok((Arc::from(name), kind))
        };
        let places = texts.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self(places))
    }

    /// Refuses texts that [`Self::open`] refuses for what they say. Nothing is asked and nothing is made.
    ///
    /// # Errors
    /// [`Error::Place`] for a text that names no place, and for a place that is named twice.
    pub fn check(texts: &[String]) -> Result<(), Error> {
        let mut names = Vec::new();
        for text in texts {
            // Without its slashes, `s3://` would be a folder.
            objects::check(text).map_err(|error| unusable(text, &error))?;
            let name = name_of(text);
            if names.contains(&name) {
                let reason = "it is named twice: name each place once".to_owned();
                return Err(Error::Place(name.to_owned(), reason));
            }
            names.push(name);
        }
        Ok(())
    }

    /// The same places, of which a JetStream object store is used over this connection.
    #[must_use]
    pub fn over(&self, outside: &Arc<dyn Outside>) -> Shelves {
        let shelf = |(name, kind): &(Arc<str>, Kind)| {
            let shelf: Option<Arc<dyn Shelf>> = match kind {
                Kind::Database => None,
                Kind::Nats => Some(Arc::new(Bucket::new(Arc::clone(outside)))),
                Kind::Objects { store, folder } => {
                    Some(Arc::new(Files::new(Arc::clone(store), folder.clone())))
                }
            };
            (Arc::clone(name), shelf)
        };
        Shelves(self.0.iter().map(shelf).collect())
    }
}

/// The text of a place, and its parts; none if they are in the database.
type Known = (Arc<str>, Option<Arc<dyn Shelf>>);

/// Places outside of the database, ready for use. Clones share them.
#[derive(Clone)]
pub struct Shelves(Arc<[Known]>);

impl Default for Shelves {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

impl Shelves {
    /// Removes the parts of a payload that has lost its name, and then its row. Repeating it is
    /// harmless.
    ///
    /// # Errors
    /// [`Error::Unplaced`], [`Error::Place`] and [`Error::Store`]; a later try goes on.
    pub async fn remove(&self, store: &dyn Store, nameless: &Nameless) -> Result<(), Error> {
        let Nameless { id, place } = nameless;
        let shelf = self.find(place);
        let shelf =
            shelf.ok_or_else(|| Error::Unplaced(format!("the garbage {id}"), place.clone()))?;
        shelf.remove(id).await.map_err(|reason| Error::Place(place.clone(), reason))?;
        Ok(store.forget_payload(id).await?)
    }

    /// Writes, reads and removes a part in each place; returns the texts of the places, each with the
    /// reason if it could not be done.
    pub async fn probe(&self, nonce: &str) -> Vec<(String, Result<(), String>)> {
        let mut probed = Vec::new();
        for (name, shelf) in self.0.iter() {
            let Some(shelf) = shelf else { continue };
            probed.push((name.to_string(), probe(&**shelf, &format!("{PROBE}-{nonce}")).await));
        }
        probed
    }

    /// Where new payloads rest; none: in the database.
    pub(crate) fn first(&self) -> Option<(&str, &Arc<dyn Shelf>)> {
        let (name, shelf) = self.0.first()?;
        Some((name, shelf.as_ref()?))
    }

    pub(crate) fn find(&self, place: &str) -> Option<&Arc<dyn Shelf>> {
        self.0.iter().find(|(name, _)| **name == *place)?.1.as_ref()
    }
}

/// The text of a place without the slashes at its end.
fn name_of(text: &str) -> &str {
    match text.trim_end_matches('/') {
        "" => text,
        name => name,
    }
}

/// The refusal of a text; of one of an unknown kind, with all that are known.
fn unusable(text: &str, error: &Unusable) -> Error {
    let reason = match error {
        Unusable::Kind(_) => format!("{error}, or {DATABASE}, or {NATS}"),
        Unusable::Reason(reason) => reason.clone(),
    };
    Error::Place(text.to_owned(), reason)
}

async fn probe(shelf: &dyn Shelf, id: &str) -> Result<(), String> {
    let bytes = Bytes::from_static(b"staunch doctor");
    shelf.write(id, 0, bytes.clone()).await?;
    let read = shelf.read(id, 0).await?;
    shelf.remove(id).await?;
    match read {
        Some(read) if read == bytes => Ok(()),
        _ => Err("what was written is not what is read".to_owned()),
    }
}

/// The name of the object of a part.
fn name(id: &str, number: u32) -> String {
    format!("{id}/{number}")
}

#[cfg(test)]
mod tests;
