//! Nodes that a validation may kill and restart.

use std::time::Duration;

use api_client::Failure;
use async_trait::async_trait;

/// The end of a node that was told to stop.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The time from the signal to the end.
    pub took: Duration,
    /// The exit status, if it says that something went wrong.
    pub wrong: Option<String>,
}

/// Nodes that a validation may kill and restart, because it has started them. They are counted from
/// zero, in the order in which the [`Site`](crate::Site) has met them.
#[async_trait]
pub trait Arena: Send + Sync {
    /// Ends a node at once, as a crash does.
    ///
    /// # Errors
    /// When it does not run.
    fn kill(&mut self, node: usize) -> Result<(), Failure>;

    /// Tells a node to stop, as a platform does, and waits for its end.
    ///
    /// # Errors
    /// When it does not run, or does not end.
    async fn stop(&mut self, node: usize) -> Result<Ending, Failure>;

    /// Starts a node that has ended, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not become ready.
    async fn restart(&mut self, node: usize) -> Result<(), Failure>;
}
