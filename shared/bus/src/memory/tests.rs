use super::*;

fn bus() -> MemoryBus {
    MemoryBus::starting_at(Timestamp::from_millis(1_000))
}

#[cfg(feature = "conformance")]
mod conformance {
    use super::bus;
    use crate::conformance;

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_the_queue() {
        conformance::queue::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_buckets() {
        conformance::kv::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_plain_messages() {
        conformance::wire::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn leases_claims_presence_and_pointers_hold_over_the_twin() {
        conformance::layer::exercise(async || bus()).await;
    }
}
