//! Tasks of the twin.

use std::time::Duration;

use async_trait::async_trait;
use protocol::subject;
use tokio::time::Instant;

use super::fault::Operation;
use super::log::TASK_ACK_WAIT;
use super::{MemoryBus, log};
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
        let Some((consumer, sequence)) = read(address) else {
            return Err(Error::Corrupt(format!("{address:?} is no address of a task")));
        };
        let operation = match answer {
            TaskAnswer::Done => Operation::Ack { sequence },
            TaskAnswer::Working => Operation::Progress { sequence },
            TaskAnswer::Back(_) => Operation::Retry { sequence },
        };
        let verdict = self.judge(operation).await?;
        if !verdict.lost {
            self.answer(|log, now| match answer {
                TaskAnswer::Done => log.ack_task(sequence),
                TaskAnswer::Working => log.retry_task(consumer, sequence, now + TASK_ACK_WAIT),
                TaskAnswer::Back(delay) => log.retry_task(consumer, sequence, now + delay),
            })?;
        }
        verdict.answer(())
    }
}

impl MemoryBus {
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

fn of(consumer: &str, pulled: log::Pulled) -> Handed {
    let log::Pulled { sequence, attempt, stored_at, message } = pulled;
    Handed {
        message,
        deliveries: attempt,
        stored_at,
        address: format!("{consumer}/{sequence}"),
        ack_wait: TASK_ACK_WAIT,
    }
}

fn read(address: &str) -> Option<(&str, u64)> {
    let (consumer, sequence) = address.rsplit_once('/')?;
    Some((consumer, sequence.parse().ok()?))
}
