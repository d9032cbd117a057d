//! fetch: the contents of payloads that a turn needs, before it is run again.

use std::collections::BTreeSet;

use engine::Contents;
use model::{PayloadHash, limits};
use payloads::Error;

use crate::cx::Cx;
use crate::stop::Stop;

/// The contents that the turns of one piece of work have asked for.
#[derive(Default)]
pub(crate) struct Fetched {
    contents: Contents,
    bytes: u64,
}

impl Fetched {
    /// The contents, for the next turn.
    pub(crate) fn there(&self) -> &Contents {
        &self.contents
    }

    /// Reads these payloads. What cannot be had has its reason in the place of the content, so that the
    /// activity that needs it fails with it.
    pub(crate) async fn fetch(
        &mut self,
        cx: &Cx,
        wanted: BTreeSet<PayloadHash>,
    ) -> Result<(), Stop> {
        const MAX: u64 = limits::PAYLOADS_LOADED_BYTES_MAX;
        for hash in wanted {
            let left = MAX.saturating_sub(self.bytes);
            let content = match cx.payloads.read(&hash, left).await {
                Ok(bytes) => {
                    self.bytes += bytes.len() as u64;
                    Ok(bytes)
                }
                Err(Error::TooLargeToLoad(_)) => Err(format!(
                    "the files and values that are needed at once have more than the {MAX} bytes that \
                     scripts and this activity read: send, save or answer with large files instead, \
                     and split large values"
                )),
                Err(Error::Store(error)) => return Err(error.into()),
                Err(error @ Error::Place(..)) => return Err(Stop::later(error.to_string())),
                Err(error) => Err(error.to_string()),
            };
            self.contents.add(hash, content);
        }
        Ok(())
    }
}
