//! Tasks of the twin.

use std::time::Duration;

use async_trait::async_trait;
use protocol::subject;
use tokio::time::Instant;

use super::MemoryBus;
use super::consumer::{Address, Pulled};
use super::fault::Operation;
use super::log::{Log, TASK_ACK_WAIT};
use crate::{Error, Handed, TaskAnswer, Tasks};

#[async_trait]
impl Tasks for MemoryBus {
    async fn take_tasks(
        &self,
        kinds: &[(String, u32)],
        max: usize,
        wait: Duration,
    ) -> Result<Vec<Handed>, Error> {
        let verdict = self.judge(Operation::Pull).await?;
        let give_up = Instant::now() + wait;
        loop {
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let (handed, next) = self.take_now(kinds, max)?;
            if !handed.is_empty() {
                // What is lost reaches no caller: it comes again.
                return Ok(if verdict.lost { Vec::new() } else { handed });
            }
            let wake = next.map_or(give_up, |next| next.min(give_up));
            let timer = tokio::time::timeout_at(wake, arrived).await;
            if timer.is_err() && Instant::now() >= give_up {
                return Ok(Vec::new());
            }
        }
    }

    async fn answer_task(&self, address: &str, answer: TaskAnswer) -> Result<(), Error> {
        let Some((consumer, to)) = read(address) else {
            return Err(Error::Corrupt(format!("{address:?} is no address of a task")));
        };
        let sequence = to.sequence;
        let operation = match answer {
            TaskAnswer::Done => Operation::Ack { sequence },
            TaskAnswer::Working => Operation::Progress { sequence },
            TaskAnswer::Back(_) => Operation::Retry { sequence },
        };
        let verdict = self.judge(operation).await?;
        let consumer = consumer.to_owned();
        let apply = move |log: &mut Log, now: Instant| match answer {
            TaskAnswer::Done => log.ack_task(&consumer, to),
            TaskAnswer::Working => log.retry_task(&consumer, sequence, now + TASK_ACK_WAIT),
            TaskAnswer::Back(delay) => log.retry_task(&consumer, sequence, now + delay),
        };
        if verdict.late.is_some() {
            // The caller has gone; nobody needs the result.
            self.when(verdict.late, move |bus| drop(bus.answer(apply)));
            return Err(Error::Unknown("injected fault: the call is still in progress".to_owned()));
        }
        if !verdict.lost {
            self.answer(apply)?;
        }
        verdict.answer(())
    }
}

impl MemoryBus {
    /// Removes the stream of tasks with its consumers, and makes it anew: its numbers begin at 1 again.
    pub fn make_tasks_anew(&self) {
        self.state().log.make_tasks_anew();
        self.shared.arrived.notify_waiters();
    }

    /// Delivers every task in progress again at once, as when the leaders of the consumers change.
    pub fn redeliver_tasks(&self) {
        self.state().log.redeliver_tasks(Instant::now());
        self.shared.arrived.notify_waiters();
    }

    /// The tasks that wait now, and when the next one comes again, if that is known.
    fn take_now(
        &self,
        kinds: &[(String, u32)],
        max: usize,
    ) -> Result<(Vec<Handed>, Option<Instant>), Error> {
        let now = Instant::now();
        let mut state = self.open()?;
        let (mut handed, mut wake) = (Vec::new(), None);
        for (task_type, version) in kinds {
            let consumer = subject::task_consumer(task_type, *version);
            let (pulled, next) = state.log.take(&consumer, max - handed.len(), now);
            wake = [wake, next].into_iter().flatten().min();
            handed.extend(pulled.into_iter().map(|pulled| of(&consumer, pulled)));
        }
        Ok((handed, wake))
    }
}

fn of(consumer: &str, pulled: Pulled) -> Handed {
    let Pulled { address, stored_at, message } = pulled;
    let Address { consumer: number, sequence, attempt } = address;
    Handed {
        message,
        deliveries: attempt,
        stored_at,
        address: format!("{consumer}/{number}/{sequence}/{attempt}"),
        ack_wait: TASK_ACK_WAIT,
    }
}

/// The name of the consumer, and the delivery.
fn read(address: &str) -> Option<(&str, Address)> {
    let mut parts = address.rsplitn(4, '/');
    let attempt = parts.next()?.parse().ok()?;
    let sequence = parts.next()?.parse().ok()?;
    let consumer = parts.next()?.parse().ok()?;
    Some((parts.next()?, Address { consumer, sequence, attempt }))
}
