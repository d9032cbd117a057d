//! The bytes of an HTTP connection.

use anyhow::{Result, ensure};
use ingress::Config;

use crate::node::{Place, status};

thread_local! {
    static PLACE: Result<Place> = Place::new(Config::default);
}

/// The bytes are sent as they are; a line end may be written as a line feed alone.
pub(crate) fn run(bytes: &[u8]) -> Result<()> {
    PLACE.with(|place| {
        let place = place.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
        let answer = place.with(async |node, _| node.exchange(bytes).await)?;
        let status = status(&answer);
        ensure!(
            status.is_none_or(|status| status < 500 || status == 503 || status == 504),
            "{}",
            String::from_utf8_lossy(&answer)
        );
        Ok(())
    })
}
