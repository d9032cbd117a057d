//! Large contents beside the instances: written from a stream, read as one, a part in memory at a
//! time. [`store::Payloads`] keeps the parts, or the row alone where a [`Places`] says that the parts
//! rest outside of the database; here are the limit, the name of the whole, and the check of what is
//! read.

mod error;
mod payloads;
mod place;

pub use error::Error;
pub use payloads::{Kept, Part, Parts, Payloads};
pub use place::{Places, Shelves};
