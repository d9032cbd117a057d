//! Bugs planted on purpose. The simulation has to find each of them: otherwise it proves nothing.

mod bus;
mod outside;
mod store;

pub(crate) use bus::BrokenBus;
pub(crate) use store::{BrokenStore, Bug};

/// The bug of this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A bug in the database.
    Store(Bug),
    /// Commands are acknowledged before they are applied.
    EarlyAck,
    /// An acknowledgement does not remove its command.
    AckForgotten,
    /// A message that was delivered once is never delivered again.
    RedeliveryForgotten,
    /// Message ids are not recognised: a message that is published twice is delivered twice, and a
    /// timer that is fired twice gives a new command.
    NewIds,
    /// An alteration that is delivered again has another id.
    AlteredTwice,
    /// Every eighth message is acknowledged but not stored.
    PublishUnkept,
    /// Deliveries lack their sender's sequence number.
    OrderStripped,
    /// A node confirms a pointer before it has applied it.
    BarrierEarly,
    /// The presence of executors is written once and never renewed, although they believe that it
    /// is.
    PresenceUnrenewed,
    /// A call has a new key on each try.
    NewKeys,
    /// A call that is made again after a failure has a new key.
    NewKeysOnRetry,
    /// A publication takes the id of the version that is already published.
    VersionReused,
    /// The stream of tasks seems to have existed all the time, also when it is a new one.
    LossUnseen,
    /// The stream of tasks seems to be as old as the others, also when it alone was made anew.
    TasksAnewUnseen,
    /// An acknowledgement settles the task of its number, also in a stream that was made anew since.
    EarlierTaskAcked,
    /// A message of a stream is settled before it is handed over.
    MessageSettledEarly,
    /// A message of a stream that was made anew is taken for the earlier one of its number.
    NumberTakenForMessage,
    /// A migration is applied without a look at whether what waits exists in the other version.
    MigrationUnchecked,
}

impl Planted {
    pub(crate) const ALL: [Self; 42] = [
        Self::Store(Bug::VersionUnchecked),
        Self::Store(Bug::OutboxForgotten),
        Self::Store(Bug::CommandsForgotten),
        Self::Store(Bug::WaitingForgotten),
        Self::Store(Bug::BookmarksKept),
        Self::Store(Bug::BookmarksForgotten),
        Self::Store(Bug::StartsForgotten),
        Self::Store(Bug::JournalForgotten),
        Self::Store(Bug::InstanceForgotten),
        Self::Store(Bug::CommandUnkept),
        Self::Store(Bug::StartUnkept),
        Self::Store(Bug::OccurrenceForgotten),
        Self::Store(Bug::RoutedForgotten),
        Self::Store(Bug::BuriedForgotten),
        Self::Store(Bug::ClockAhead),
        Self::Store(Bug::TimersUnseen),
        Self::Store(Bug::SchedulesUnseen),
        Self::Store(Bug::UnstartedUnseen),
        Self::Store(Bug::UnappliedUnseen),
        Self::Store(Bug::OutboxUnseen),
        Self::Store(Bug::UnfinishedUnseen),
        Self::Store(Bug::PayloadUseForgotten),
        Self::Store(Bug::PayloadPartUnkept),
        Self::Store(Bug::PayloadsUncleared),
        Self::EarlyAck,
        Self::AckForgotten,
        Self::RedeliveryForgotten,
        Self::NewIds,
        Self::AlteredTwice,
        Self::PublishUnkept,
        Self::OrderStripped,
        Self::BarrierEarly,
        Self::PresenceUnrenewed,
        Self::NewKeys,
        Self::NewKeysOnRetry,
        Self::VersionReused,
        Self::LossUnseen,
        Self::TasksAnewUnseen,
        Self::EarlierTaskAcked,
        Self::MessageSettledEarly,
        Self::NumberTakenForMessage,
        Self::MigrationUnchecked,
    ];
}
