//! Named points on the path of a command, where simulations and crash tests stop a node.
//!
//! In production nobody listens, and passing a point costs nothing.

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
    /// The points that a gateway passes.
    INGRESS {
        /// A request is understood, and nothing of it is written.
        BeforeAccept "before_accept";
        /// It is in the database, and not published.
        Accepted "accepted";
        /// It is published, and its sender is not told.
        Sent "sent";
        /// A version is about to be published.
        BeforePublication "before_publication";
        /// It is in the database, and not announced.
        Publicised "publicised";
        /// It is announced, and its publisher is not told.
        Announced "announced";
    }
    /// The points that an executor passes.
    EXECUTOR {
        /// A delivery is in hand, unread.
        Received "received";
        /// It is read.
        Decoded "decoded";
        /// The lease is about to be asked for.
        BeforeLock "before_lock";
        /// A lease is about to be taken, renewed or given back in the bucket.
        BeforeLease "before_lease";
        /// That is written, and nobody has drawn the consequences.
        Leased "leased";
        /// The lease is held.
        Locked "locked";
        /// The instance is about to be read.
        BeforeLoad "before_load";
        /// The instance is read.
        Loaded "loaded";
        /// The engine is about to run.
        BeforeRun "before_run";
        /// The engine has run; nothing is written yet.
        Ran "ran";
        /// The transaction is about to be sent.
        BeforeCommit "before_commit";
        /// The transaction is answered.
        Committed "committed";
        /// The commit lost: someone else was here.
        Conflicted "conflicted";
        /// The lease is about to be given back.
        BeforeRelease "before_release";
        /// The lease is given back.
        Released "released";
        /// What was committed is about to be published: the outbox, and commands of others.
        BeforePublish "before_publish";
        /// It is published, and the outbox rows are still there.
        Published "published";
        /// The outbox rows are marked as published.
        Marked "marked";
        /// An outgoing call is committed and about to be made.
        BeforeCall "before_call";
        /// An outgoing call is answered, and the answer is not recorded.
        Called "called";
        /// The outcome is about to be sent.
        BeforeReply "before_reply";
        /// The outcome is sent.
        Replied "replied";
        /// Receivers of an event or a task are about to be looked for.
        BeforeRoute "before_route";
        /// Receivers are known.
        Routed "routed";
        /// Receivers have their commands in the database, unpublished.
        FannedOut "fanned_out";
        /// A command that came too early is about to be kept.
        BeforeWait "before_wait";
        /// It is kept, and the bookmark not yet looked for again.
        Waiting "waiting";
        /// A command is about to go to the dead.
        BeforePark "before_park";
        /// It is among the dead, and not acknowledged.
        Parked "parked";
        /// The acknowledgement is about to be sent.
        BeforeAck "before_ack";
        /// The acknowledgement is sent.
        Acked "acked";
    }
    /// The points that a timer passes.
    TIMER {
        /// What is due soon is read.
        Scanned "scanned";
        /// A due timer is about to be claimed.
        BeforeClaim "before_claim";
        /// It is claimed, and its command not published.
        Claimed "claimed";
        /// Its command is published, and the claim not marked as done.
        Fired "fired";
        /// The claim is marked as done.
        Settled "settled";
        /// An occurrence of a schedule is about to be accepted.
        BeforeOccurrence "before_occurrence";
        /// It is in the database, and not published.
        Occurred "occurred";
        /// A sweep is about to look.
        BeforeSweep "before_sweep";
        /// It has published outbox rows, and they are still there.
        Resent "resent";
        /// Commands that nobody waited for are about to be buried.
        BeforeBurial "before_burial";
        /// They are among the dead, or on their way there by the outbox.
        Buried "buried";
    }
    /// The points that a cache notifier passes.
    NOTIFIER {
        /// An announcement is in hand.
        Heard "heard";
        /// A pointer is about to be written.
        BeforeSwap "before_swap";
        /// It is written, and the nodes are not asked.
        Pointed "pointed";
        /// The nodes are asked whether they have it.
        Asked "asked";
        /// The publisher is about to be answered.
        BeforeAnswer "before_answer";
        /// The publisher is answered.
        Answered "answered";
    }
}

/// Is told when work passes a point. One that never returns is a crash.
#[async_trait]
pub trait Points: Send + Sync {
    /// The work is at this point, on this node.
    async fn at(&self, node: &str, point: Point);
}

/// The way that the work of one node takes: where somebody listens, each point is told. Cheap to
/// clone; the default is production, where nobody listens.
#[derive(Clone, Default)]
pub struct Trail(Option<(Arc<str>, Arc<dyn Points>)>);

impl Trail {
    /// The work of this node, watched by those points, if they are anybody's.
    #[must_use]
    pub fn new(node: &str, points: Option<Arc<dyn Points>>) -> Self {
        Self(points.map(|points| (Arc::from(node), points)))
    }

    /// Passes a point.
    pub async fn at(&self, point: Point) {
        if let Some((node, points)) = &self.0 {
            points.at(node, point).await;
        }
    }

    /// Whether anybody listens.
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
