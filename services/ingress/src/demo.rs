//! What `staunch demo` hands to its ingress: an executor that people may kill over HTTP.
//!
//! It is a value of the process. No setting, subject, key or row leads to it: an ingress elsewhere has
//! none, and no request can give it one.

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use tokio::sync::{Mutex, mpsc, oneshot, watch};

/// The longest time in which an executor is killed.
const KILL_MAX: Duration = Duration::from_secs(10);

/// An executor of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoExecutor {
    /// Its name among the nodes.
    pub node: String,
    /// Its process id.
    pub pid: u32,
}

/// What the demo does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It shows its own steps, and kills executors by itself.
    #[default]
    Showing,
    /// This executor works.
    Running(DemoExecutor),
    /// The executor was killed, and another one starts in its place.
    Replacing,
}

/// The side of ingress. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Demo {
    wishes: mpsc::Sender<oneshot::Sender<DemoExecutor>>,
    standing: watch::Receiver<Standing>,
    /// Held while an executor is being killed: one at a time.
    turn: Arc<Mutex<()>>,
    last: Arc<watch::Sender<Option<Kill>>>,
}

/// The side of the demo.
#[derive(Debug)]
pub struct Stand {
    wishes: mpsc::Receiver<oneshot::Sender<DemoExecutor>>,
    standing: watch::Sender<Standing>,
}

/// Somebody wants the executor killed.
#[derive(Debug)]
pub struct Wish(oneshot::Sender<DemoExecutor>);

/// The last kill that was asked for over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kill {
    /// When the executor was dead.
    pub(crate) at: Timestamp,
    pub(crate) killed: DemoExecutor,
    /// The number of instances that there were then.
    pub(crate) instances: u64,
}

/// The reason why no executor is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unkilled {
    /// The demo still shows its own steps.
    Showing,
    /// Another one is being killed, or starts.
    Busy,
    /// The demo does not answer: it stops, perhaps.
    Silent,
}

impl Demo {
    /// The two sides of a demo, which shows its own steps at first.
    #[must_use]
    pub fn open() -> (Self, Stand) {
        let (wish, wishes) = mpsc::channel(1);
        let (stands, standing) = watch::channel(Standing::default());
        let (turn, last) = (Arc::default(), Arc::new(watch::Sender::new(None)));
        (Self { wishes: wish, standing, turn, last }, Stand { wishes, standing: stands })
    }

    /// What the demo does now.
    pub(crate) fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    /// The last kill.
    pub(crate) fn last(&self) -> Option<Kill> {
        self.last.borrow().clone()
    }

    /// Keeps a kill as the last one.
    pub(crate) fn keep(&self, kill: Kill) {
        self.last.send_replace(Some(kill));
    }

    /// Has the executor killed; returns which it was as soon as it is dead.
    ///
    /// # Errors
    /// [`Unkilled`] has the reason why none was killed. After [`Unkilled::Silent`] one may have been.
    pub(crate) async fn kill(&self) -> Result<DemoExecutor, Unkilled> {
        let Ok(_turn) = self.turn.try_lock() else { return Err(Unkilled::Busy) };
        match self.standing() {
            Standing::Showing => return Err(Unkilled::Showing),
            Standing::Replacing => return Err(Unkilled::Busy),
            Standing::Running(_) => {}
        }
        let (answer, killed) = oneshot::channel();
        self.wishes.try_send(answer).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => Unkilled::Busy,
            mpsc::error::TrySendError::Closed(_) => Unkilled::Silent,
        })?;
        match tokio::time::timeout(KILL_MAX, killed).await {
            Ok(Ok(killed)) => Ok(killed),
            Ok(Err(_)) | Err(_) => Err(Unkilled::Silent),
        }
    }
}

impl Stand {
    /// Says what the demo does now.
    pub fn is(&self, standing: Standing) {
        self.standing.send_replace(standing);
    }

    /// Waits until somebody wants the executor killed; `None` once ingress has ended. A wish for which
    /// nobody waits any more is left out.
    pub async fn wish(&mut self) -> Option<Wish> {
        loop {
            let wish = self.wishes.recv().await?;
            if !wish.is_closed() {
                return Some(Wish(wish));
            }
        }
    }
}

impl Wish {
    /// This executor is dead. First say with [`Stand::is`] that it is being replaced.
    pub fn done(self, killed: DemoExecutor) {
        if self.0.send(killed).is_err() {
            tracing::debug!("nobody waits for the end of the executor any more");
        }
    }
}
