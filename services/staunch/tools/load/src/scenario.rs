//! The scenarios, and the two ways to send their requests.

use serde::Serialize;

/// The step that a lane repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scenario {
    /// Three activities, from start to finish in one burst.
    Start,
    /// The same with ten.
    Steps,
    /// Three calls to a server, each result durable before the next call.
    Calls,
    /// Start, wait; resume, finish.
    Resume,
    /// Start and wait; the instance stays suspended.
    Suspend,
    /// Wait for an instant in the near future.
    Timer,
    /// One parent waits for 100 children.
    Fanout,
    /// All lanes resume a few instances.
    Contend,
    /// One call that is answered after 100 ms.
    Io,
    /// One task, done by a worker.
    Task,
    /// A message of a stream starts an instance.
    Listen,
    /// A large body goes through an instance and comes back.
    Payload,
    /// Publish a new version; the step ends when it is in force on all nodes.
    Publish,
}

/// How requests reach the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Commands to JetStream, outcomes to an inbox.
    Nats,
    /// Requests that wait for their outcome.
    Http,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 13] = [
        Self::Start,
        Self::Steps,
        Self::Calls,
        Self::Resume,
        Self::Suspend,
        Self::Timer,
        Self::Fanout,
        Self::Contend,
        Self::Io,
        Self::Task,
        Self::Listen,
        Self::Payload,
        Self::Publish,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Resume => "resume",
            Self::Suspend => "suspend",
            Self::Timer => "timer",
            Self::Fanout => "fanout",
            Self::Contend => "contend",
            Self::Io => "io",
            Self::Task => "task",
            Self::Listen => "listen",
            Self::Payload => "payload",
            Self::Publish => "publish",
        }
    }

    /// One step, described in words.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Start => "an instance of 3 activities, from start to finish in one burst",
            Self::Steps => "an instance of 10 activities, from start to finish in one burst",
            Self::Calls => "an instance of 3 HTTP calls, each result durable before the next call",
            Self::Resume => "an instance that waits, is resumed and finishes",
            Self::Suspend => "an instance that starts and waits, and is left so",
            Self::Timer => "an instance that waits for an instant",
            Self::Fanout => "a parent that waits for its 100 children",
            Self::Contend => "a resume of one of few instances",
            Self::Io => "an instance of one HTTP call that is answered after 100 ms",
            Self::Task => "an instance of one task, done by a worker on NATS",
            Self::Listen => "a message of a stream, from its publication to its instance's end",
            Self::Payload => "a body of --bytes over HTTP, kept as a payload and sent back",
            Self::Publish => "a new version of a definition, in force on all nodes",
        }
    }

    /// The default number of lanes.
    #[must_use]
    pub fn lanes(self) -> usize {
        match self {
            Self::Timer => 2_048,
            Self::Io => 1_024,
            Self::Fanout => 4,
            Self::Contend => 64,
            Self::Payload => 2,
            Self::Publish => 1,
            _ => 256,
        }
    }

    /// Whether its lanes are told over NATS when an instance is over.
    pub(crate) fn hears_ends(self) -> bool {
        matches!(self, Self::Timer | Self::Fanout | Self::Task | Self::Listen)
    }

    /// How its requests reach the cluster, where both ways are offered or only HTTP is.
    pub(crate) fn over(self, wanted: Transport) -> Transport {
        match self {
            Self::Payload | Self::Publish => Transport::Http,
            _ => wanted,
        }
    }

    /// The number of instances of one step.
    #[must_use]
    pub fn instances(self) -> u64 {
        match self {
            Self::Fanout => 1 + u64::from(CHILDREN),
            Self::Publish | Self::Contend => 0,
            _ => 1,
        }
    }
}

/// The children of one parent.
pub(crate) const CHILDREN: u32 = 100;

impl Transport {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nats => "NATS",
            Self::Http => "HTTP",
        }
    }
}
