//! Named points on the path of a command, where simulations and crash tests stop a node.
//!
//! In production nothing listens, and reaching a point costs nothing.

use std::sync::Arc;

use async_trait::async_trait;

macro_rules! points {
    ($($(#[$of:meta])* $service:ident { $($(#[$doc:meta])* $name:ident $text:literal;)+ })+) => {
        /// A point on the path of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Point {
            $($($(#[$doc])* $name,)+)+
        }

        impl Point {
            /// Every point, service by service, in the order of the path.
            pub const ALL: &[Self] = &[$($(Self::$name,)+)+];
            $($(#[$of])* pub const $service: &[Self] = &[$(Self::$name,)+];)+

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$name => $text,)+)+
                }
            }

            /// The point of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| point.name() == name)
            }
        }
    };
}

points! {
    /// The points of ingress.
    INGRESS {
        /// A request is read and checked; nothing of it is written.
        BeforeAccept "before_accept";
        /// Its row is committed; nothing is published.
        Accepted "accepted";
        /// Its command is published; the caller has no answer.
        Sent "sent";
        /// A version is about to be published.
        BeforePublication "before_publication";
        /// The version is committed; it is not announced.
        Publicised "publicised";
        /// The version is announced; its publisher has no answer.
        Announced "announced";
    }
    /// The points of an executor.
    EXECUTOR {
        /// A delivery has arrived and is not read.
        Received "received";
        /// The delivery is read.
        Decoded "decoded";
        /// Before the executor asks for the lease.
        BeforeLock "before_lock";
        /// Before a write to the lease bucket: a lease is taken, renewed or given back.
        BeforeLease "before_lease";
        /// The lease bucket is written; nothing that follows from it has run.
        Leased "leased";
        /// The lease is held.
        Locked "locked";
        /// Before the instance is read.
        BeforeLoad "before_load";
        /// The instance is read.
        Loaded "loaded";
        /// Before the engine runs.
        BeforeRun "before_run";
        /// The engine has run; nothing is written yet.
        Ran "ran";
        /// Before the transaction is sent.
        BeforeCommit "before_commit";
        /// The transaction is committed; nothing that follows from it has run.
        Committed "committed";
        /// The commit failed its version check: another node has written the instance.
        Conflicted "conflicted";
        /// Before the lease is given back.
        BeforeRelease "before_release";
        /// The lease is given back.
        Released "released";
        /// Before the outbox and the commands for other instances are published.
        BeforePublish "before_publish";
        /// The outbox is published; its rows are still there.
        Published "published";
        /// The outbox rows are marked as published.
        Marked "marked";
        /// Before an outgoing call whose intent is committed.
        BeforeCall "before_call";
        /// An outgoing call is answered; its answer is not recorded.
        Called "called";
        /// Before the outcome is sent.
        BeforeReply "before_reply";
        /// The outcome is sent.
        Replied "replied";
        /// Before the receivers of an event or a task result are looked up.
        BeforeRoute "before_route";
        /// The receivers are known.
        Routed "routed";
        /// The commands for the receivers are committed; they are not published.
        FannedOut "fanned_out";
        /// Before a command that came too early is kept.
        BeforeWait "before_wait";
        /// The command is kept; its bookmark is not looked up again yet.
        Waiting "waiting";
        /// Before a command goes to the dead letters.
        BeforePark "before_park";
        /// The command is a dead letter; its delivery is not acknowledged.
        Parked "parked";
        /// Before the delivery is acknowledged.
        BeforeAck "before_ack";
        /// The delivery is acknowledged.
        Acked "acked";
    }
    /// The points of a timer.
    TIMER {
        /// A scan has read the timers and schedules that are due soon.
        Scanned "scanned";
        /// Before a due timer is claimed.
        BeforeClaim "before_claim";
        /// The timer is claimed; its command is not published.
        Claimed "claimed";
        /// The command is published; the claim is not marked done.
        Fired "fired";
        /// The claim is marked done.
        Settled "settled";
        /// Before an occurrence of a schedule is accepted.
        BeforeOccurrence "before_occurrence";
        /// The starts of the occurrence are committed; they are not published.
        Occurred "occurred";
        /// Before a sweep.
        BeforeSweep "before_sweep";
        /// The sweep has published outbox rows; the rows are still there.
        Resent "resent";
        /// Before an expired command goes to the dead letters.
        BeforeBurial "before_burial";
        /// The dead letter of the command is in the outbox.
        Buried "buried";
    }
    /// The points of a cache notifier.
    NOTIFIER {
        /// An announcement has arrived.
        Heard "heard";
        /// Before a pointer is written.
        BeforeSwap "before_swap";
        /// The pointer is written; the nodes are not asked.
        Pointed "pointed";
        /// The nodes are asked whether they have the pointer.
        Asked "asked";
        /// Before the publisher is answered.
        BeforeAnswer "before_answer";
        /// The publisher is answered.
        Answered "answered";
    }
}

/// Called at every point that a node reaches. An implementation that never returns simulates a
/// crash.
#[async_trait]
pub trait Points: Send + Sync {
    /// The node has reached this point.
    async fn at(&self, node: &str, point: Point);
}

/// Reports the points that one node reaches. Cheap to clone. The default is production, where
/// nothing listens.
#[derive(Clone, Default)]
pub struct Trail(Option<(Arc<str>, Arc<dyn Points>)>);

impl Trail {
    /// Reports the points of this node to `points`, if there are any.
    #[must_use]
    pub fn new(node: &str, points: Option<Arc<dyn Points>>) -> Self {
        Self(points.map(|points| (Arc::from(node), points)))
    }

    /// Reports a point.
    pub async fn at(&self, point: Point) {
        if let Some((node, points)) = &self.0 {
            points.at(node, point).await;
        }
    }

    /// Whether a listener is set.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }
}

impl std::fmt::Debug for Trail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trail({})", if self.is_watched() { "watched" } else { "unwatched" })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn points_are_many_and_their_names_are_unique() {
        let names: BTreeSet<_> = Point::ALL.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), Point::ALL.len());
        assert!(names.len() >= 40);
        for point in Point::ALL {
            assert_eq!(Point::named(point.name()), Some(*point));
        }
    }
}
