//! Where JetStream keeps streams and buckets.

use serde_json::{Value, json};

/// The number of copies of each stream and bucket, and which servers may have them. What it does not say
/// stays as it is; a new stream gets it from the stream of commands. Where that says nothing either,
/// there is one copy, in the cluster of the server that is asked, or in another one with room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Copies: 1 for one server, 3 or 5 for a cluster.
    pub replicas: Option<usize>,
    /// Only servers of this cluster.
    pub cluster: Option<String>,
    /// Only servers that have all of these tags.
    pub tags: Vec<String>,
}

impl Placement {
    /// That of a stream with this configuration.
    pub(crate) fn read(config: &Value) -> Self {
        let replicas =
            config["num_replicas"].as_u64().and_then(|count| usize::try_from(count).ok());
        let placement = &config["placement"];
        let tags = placement["tags"].as_array().into_iter().flatten();
        Self {
            replicas,
            cluster: placement["cluster"].as_str().map(str::to_owned),
            tags: tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
        }
    }

    /// What this one does not say is as there.
    pub(crate) fn or(&self, there: Self) -> Self {
        let says_where = self.cluster.is_some() || !self.tags.is_empty();
        let place = if says_where { self.clone() } else { there.clone() };
        Self { replicas: self.replicas.or(there.replicas), ..place }
    }

    /// Adds it to the configuration of a stream.
    pub(crate) fn add_to(&self, config: &mut Value) {
        if let Some(replicas) = self.replicas {
            config["num_replicas"] = replicas.into();
        }
        if self.cluster.is_some() || !self.tags.is_empty() {
            let mut placement = json!({});
            if let Some(cluster) = &self.cluster {
                placement["cluster"] = cluster.as_str().into();
            }
            if !self.tags.is_empty() {
                placement["tags"] = json!(self.tags);
            }
            config["placement"] = placement;
        }
    }
}

impl From<usize> for Placement {
    fn from(replicas: usize) -> Self {
        Self { replicas: Some(replicas), ..Self::default() }
    }
}
