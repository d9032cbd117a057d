//! The twin behaves like every store, and fails where a test injects a fault.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;

use async_trait::async_trait;
use model::Timestamp;
use tokio::sync::Notify;

use super::*;
use crate::{Accepted, Inbox as _, Instances as _, NewInstance, PendingCommand, conformance};

fn memory() -> MemoryStore {
    MemoryStore::new(Arc::new(|| Timestamp::from_millis(1_800_000_000_000)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_twin_conforms() {
    conformance::exercise(async || Arc::new(memory()) as Arc<dyn Store>).await;
}

struct LostAnswer;

#[async_trait]
impl Faults for LostAnswer {
    async fn after(&self, operation: Operation) -> Result<(), Error> {
        match operation.writes() {
            true => Err(Error::Unavailable("the answer is lost".to_owned())),
            false => Ok(()),
        }
    }
}

struct Refuses;

#[async_trait]
impl Faults for Refuses {
    async fn before(&self, operation: Operation) -> Result<(), Error> {
        match operation {
            Operation::AcceptCommand => Err(Error::Unavailable("down".to_owned())),
            _ => Ok(()),
        }
    }
}

struct Held(Notify);

#[async_trait]
impl Faults for Held {
    async fn before(&self, _operation: Operation) -> Result<(), Error> {
        self.0.notified().await;
        Ok(())
    }
}

fn start() -> NewInstance {
    conformance::start("a")
}

fn command() -> PendingCommand {
    conformance::command("c")
}

#[tokio::test]
async fn a_lost_answer_has_changed_something() {
    let store = memory();
    let faulty = store.with_faults(Arc::new(LostAnswer));
    assert!(faulty.accept(start()).await.is_err());
    assert!(faulty.load(&start().instance.id).await.unwrap().is_some());
    assert!(matches!(store.accept(start()).await.unwrap(), Accepted::Exists(_)));
    assert_eq!(store.sizes().instances, 1);
}

#[tokio::test]
async fn a_fault_before_changes_nothing() {
    let store = memory();
    let faulty = store.with_faults(Arc::new(Refuses));
    assert!(faulty.accept_command(command()).await.is_err());
    assert_eq!(store.sizes(), Sizes::default());
    faulty.wait(command()).await.unwrap();
    assert_eq!(store.sizes().pending, 1);
}

#[tokio::test]
async fn a_fault_can_hold_an_operation_up() {
    let store = memory();
    let held = Arc::new(Held(Notify::new()));
    let faulty = store.with_faults(Arc::clone(&held) as Arc<dyn Faults>);
    let waits = tokio::spawn(async move { faulty.accept(start()).await });
    tokio::task::yield_now().await;
    assert_eq!(store.sizes().instances, 0);
    held.0.notify_one();
    assert_eq!(waits.await.unwrap().unwrap(), Accepted::New);
}
