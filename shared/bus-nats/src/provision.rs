//! Creates and verifies the streams, consumers, buckets and object stores of the topology.

use bus::Error;
use protocol::subject;

use crate::NatsBus;
use crate::ensure::{compare, consumer_config, ensure_consumer, ensure_stream, stream_config};
use crate::placement::Placement;
use crate::topology::{BucketSpec, ConsumerSpec, StreamSpec, Topology};

impl NatsBus {
    /// Creates what the embedded topology lists and the server lacks, and changes settings that
    /// differ. Copies and places that are not said stay as they are, and so do limits that were raised.
    ///
    /// # Errors
    /// [`Error::NotProvisioned`] when a stream or bucket exists that cannot be changed, or when the
    /// server has no room: the text names it.
    pub async fn provision(&self, placement: impl Into<Placement>) -> Result<(), Error> {
        self.provision_as(&Topology::embedded()?, &placement.into()).await
    }

    /// The same with another topology, such as one with larger limits.
    ///
    /// # Errors
    /// As [`NatsBus::provision`].
    pub async fn provision_as(
        &self,
        topology: &Topology,
        placement: &Placement,
    ) -> Result<(), Error> {
        let api = &self.open()?.data_api;
        let there = stream_config(api, subject::COMMANDS_STREAM).await?.unwrap_or_default();
        let new = placement.or(Placement::read(&there));
        for spec in &topology.stream {
            ensure_stream(api, &spec.name, &spec.config(placement), &spec.config(&new)).await?;
        }
        for spec in &topology.bucket {
            let (there, new) = (spec.config(placement), spec.config(&new));
            ensure_stream(api, &spec.stream(), &there, &new).await?;
        }
        for spec in &topology.object_store {
            let (there, new) = (spec.config(placement), spec.config(&new));
            ensure_stream(api, &spec.stream(), &there, &new).await?;
        }
        for spec in &topology.consumer {
            ensure_consumer(api, spec).await?;
        }
        Ok(())
    }

    /// Creates the consumer from which the workers for a type of tasks pull, unless it is there;
    /// returns its name.
    ///
    /// # Errors
    /// [`Error::NotProvisioned`] when another consumer has these tasks, or the server has no room.
    pub async fn provision_worker(&self, task_type: &str, version: u32) -> Result<String, Error> {
        self.provide_pool(task_type, version).await?;
        Ok(subject::task_consumer(task_type, version))
    }

    /// Compares the server's streams, consumers and buckets with the embedded topology. Limits and
    /// replicas may differ. Object stores may be missing: who uses one that is says so. Buckets in memory
    /// that a single server has lost in a restart are created again first.
    ///
    /// # Errors
    /// [`Error::NotProvisioned`] names everything that is missing or differs.
    pub async fn verify(&self) -> Result<(), Error> {
        let api = &self.open()?.data_api;
        let topology = Topology::embedded()?;
        let (mut faults, any) = (Vec::new(), Placement::default());
        let commands = topology.stream.first().map(|spec| spec.name.as_str()).unwrap_or_default();
        let is_provisioned = stream_config(api, commands).await?.is_some();
        for spec in &topology.stream {
            let there = stream_config(api, &spec.name).await?;
            compare(&spec.name, there, &spec.config(&any), &StreamSpec::CHECKED, &mut faults);
        }
        for spec in &topology.bucket {
            let mut there = stream_config(api, &spec.stream()).await?;
            if there.is_none() && is_provisioned && self.inner.healer.heal(&spec.stream()).await {
                there = stream_config(api, &spec.stream()).await?;
            }
            let name = format!("bucket {}", spec.name);
            compare(&name, there, &spec.config(&any), &BucketSpec::CHECKED, &mut faults);
        }
        for spec in &topology.consumer {
            let there = consumer_config(api, &spec.stream, &spec.name).await?;
            let name = format!("consumer {} of {}", spec.name, spec.stream);
            compare(&name, there, &spec.config(), &ConsumerSpec::CHECKED, &mut faults);
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::NotProvisioned(faults.join("; "))) }
    }
}
