//! Named points on the path of a command, where simulations and crash tests stop it.
//!
//! In production nobody listens, and passing a point costs nothing.

use async_trait::async_trait;

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident $text:literal;)+) => {
        /// A point on the path of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Point {
            $($(#[$doc])* $name,)+
        }

        impl Point {
            /// Every point, in the order of the path.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

points! {
    /// A delivery is in hand, unread.
    Received "received";
    /// It is read.
    Decoded "decoded";
    /// The lease is about to be asked for.
    BeforeLock "before_lock";
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

/// Is told when a command passes a point. One that never returns is a crash.
#[async_trait]
pub trait Points: Send + Sync {
    /// The command is at this point, on this node.
    async fn at(&self, node: &str, point: Point);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn points_are_many_and_their_names_are_unique() {
        let names: BTreeSet<_> = Point::ALL.iter().map(|point| point.name()).collect();
        assert_eq!(names.len(), Point::ALL.len());
        assert!(names.len() >= 20);
    }
}
