//! What the streams, buckets and consumers of the topology hold, asked all at once.

use bus::{ConsumerFigures, Error, Figures, StreamFigures};
use futures::future::join_all;

use crate::NatsBus;
use crate::api::ApiError;
use crate::inspect::{ConsumerSeen, StreamSeen, consumer, seen, stream_info};
use crate::topology::{BucketSpec, ObjectStoreSpec, StreamSpec, Topology};

const MISSING: &str = "it is missing: run `staunch provision`";

impl NatsBus {
    /// The figures of everything in the topology.
    pub(crate) async fn all_figures(&self) -> Result<Figures, Error> {
        let inner = self.open()?;
        let (api, topology) = (&inner.control_api, Topology::embedded()?);
        let info = inner.data.client.server_info();
        let streams = topology.stream.iter().map(|spec| async {
            let info = stream_info(api, &spec.name).await;
            of_stream(seen(&spec.name, info, &spec.config(&1.into()), &StreamSpec::CHECKED))
        });
        let buckets = topology.bucket.iter().map(|spec| async {
            let name = spec.stream();
            let info = stream_info(api, &name).await;
            of_stream(seen(&name, info, &spec.config(&1.into()), &BucketSpec::CHECKED))
        });
        let stores = topology.object_store.iter().map(|spec| async {
            let name = spec.stream();
            let info = stream_info(api, &name).await;
            // Only processes that use a store need the permission to ask about it.
            let may_ask = !matches!(info, Err(ApiError::Denied(_)));
            let wanted = spec.config(&1.into());
            may_ask.then(|| of_stream(seen(&name, info, &wanted, &ObjectStoreSpec::CHECKED)))
        });
        let consumers =
            topology.consumer.iter().map(|spec| async { of_consumer(consumer(api, spec).await) });
        let (mut streams, buckets, stores, consumers) = futures::join!(
            join_all(streams),
            join_all(buckets),
            join_all(stores),
            join_all(consumers)
        );
        streams.extend(buckets);
        streams.extend(stores.into_iter().flatten());
        Ok(Figures {
            server: info.server_name,
            version: info.version,
            cluster: info.cluster,
            streams,
            consumers,
        })
    }
}

fn of_stream(seen: StreamSeen) -> StreamFigures {
    let missing = (!seen.is_there).then(|| MISSING.to_owned());
    StreamFigures {
        name: seen.name,
        trouble: seen.unanswered.or(missing),
        messages: seen.messages,
        bytes: seen.bytes,
        bytes_max: u64::try_from(seen.bytes_max).ok().filter(|max| *max > 0),
        replicas: seen.replicas,
        behind: seen.behind,
    }
}

fn of_consumer(seen: ConsumerSeen) -> ConsumerFigures {
    let missing = (!seen.is_there).then(|| MISSING.to_owned());
    ConsumerFigures {
        is_missing: !seen.is_there && seen.unanswered.is_none(),
        name: seen.name,
        stream: seen.stream,
        trouble: seen.unanswered.or(missing),
        pending: seen.pending,
        in_hand: seen.in_hand,
        redelivered: seen.redelivered,
        pulls: seen.pulls,
    }
}
