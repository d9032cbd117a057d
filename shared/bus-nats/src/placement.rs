//! Where JetStream keeps streams and buckets.

use serde_json::{Value, json};

/// The number of copies of each stream and bucket, and which servers may have them. Without a cluster
/// and tags, that is the cluster of the server that is asked, or another one with enough servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Copies: 1 for one server, 3 or 5 for a cluster.
    pub replicas: usize,
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
            replicas: replicas.unwrap_or(1),
            cluster: placement["cluster"].as_str().map(str::to_owned),
            tags: tags.filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
        }
    }

    /// Adds it to the configuration of a stream. What is not said here stays as it is.
    pub(crate) fn add_to(&self, config: &mut Value) {
        config["num_replicas"] = self.replicas.into();
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
        Self { replicas, cluster: None, tags: Vec::new() }
    }
}
