//! The required end of an instance: a story returns it, and the oracle checks it.

use std::time::Duration;

use model::SubStatus;

/// The required end of one instance.
#[derive(Clone, Debug)]
pub(crate) struct Expect {
    pub(crate) id: String,
    pub(crate) status: SubStatus,
    /// The lines it writes, in order; unknown for an instance that is cancelled.
    pub(crate) lines: Option<Vec<String>>,
    /// The least time between the first two lines.
    pub(crate) gap: Option<Duration>,
    /// The number of child instances that it starts.
    pub(crate) children: usize,
    /// The paths that it calls.
    pub(crate) calls: &'static [&'static str],
    /// Commands that it has applied, in this order.
    pub(crate) order: Vec<String>,
    /// It runs this version or a later one: all nodes had it before the start was sent.
    pub(crate) version_min: u32,
    /// The versions that it migrates to, in order.
    pub(crate) migrations: Vec<u64>,
    /// When the message was stored that starts it. If it is lost with its stream, it may start nothing.
    pub(crate) stored_nanos: Option<i128>,
    /// It is a command that becomes a dead letter, not an instance.
    pub(crate) is_dead: bool,
}

pub(crate) type Expectations = Vec<Expect>;

impl Expect {
    pub(crate) fn lines(id: &str, lines: &[&str]) -> Self {
        Self {
            id: id.to_owned(),
            status: SubStatus::Finished,
            lines: Some(lines.iter().map(|line| (*line).to_owned()).collect()),
            gap: None,
            children: 0,
            calls: &[],
            order: Vec::new(),
            version_min: 0,
            migrations: Vec::new(),
            stored_nanos: None,
            is_dead: false,
        }
    }

    /// An instance with unknown lines.
    pub(crate) fn finished(id: &str) -> Self {
        Self { lines: None, ..Self::lines(id, &[]) }
    }

    /// A command that becomes a dead letter.
    pub(crate) fn dead(id: &str) -> Self {
        Self { is_dead: true, ..Self::finished(id) }
    }

    pub(crate) fn cancelled(id: &str) -> Self {
        Self { status: SubStatus::Cancelled, lines: None, ..Self::lines(id, &[]) }
    }
}
