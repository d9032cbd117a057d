//! The results of one action on many definitions or instances.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use crate::present::definition::SavedDefinition;

/// The definitions that were published, and those that were not.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Publications {
    published: Vec<String>,
    already_published: Vec<String>,
    not_found: Vec<String>,
    /// Always empty.
    skipped: Vec<String>,
    /// The definitions that use one of these as an activity and were published anew with it.
    updated_consumers: Vec<String>,
    failed: Vec<String>,
    /// The mistakes of those that failed, by the id of the definition.
    problems: BTreeMap<String, Vec<String>>,
    /// What their authors should know, by the id of the definition.
    warnings: BTreeMap<String, Vec<String>>,
}

/// The definitions that were retracted, and those that were not.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retractions {
    retracted: Vec<String>,
    /// The same as `notPublished`.
    already_retracted: Vec<String>,
    not_published: Vec<String>,
    not_found: Vec<String>,
    /// Always empty.
    skipped: Vec<String>,
}

/// The definitions that were announced again, and those that are not published.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refreshed {
    refreshed: Vec<String>,
    not_found: Vec<String>,
}

/// The number of definitions, versions or instances that were removed.
#[derive(ToSchema)]
pub(crate) struct Deletions {
    deleted: u64,
}

/// The number of instances that were removed, and of those that the filter selects after that.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilteredDeletions {
    deleted: u64,
    /// Counted up to 100000.
    remaining: u64,
    /// Why not all that one call removes were removed, such as a database that has too much to do: send
    /// the same again. Absent if they were.
    stopped_by: Option<String>,
}

/// The number of instances that were cancelled.
#[derive(ToSchema)]
pub(crate) struct Cancellations {
    cancelled: u64,
}

/// What a save of each definition answers.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedTogether {
    /// Each after those that it uses.
    workflow_definitions: Vec<SavedDefinition>,
}

/// The instances that were taken in, and those that were not.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstancesImported {
    imported: u64,
    /// The same as `imported`.
    count: u64,
    /// The first one.
    workflow_instance_id: Option<String>,
    failed: Vec<ImportFailed>,
}

/// A file whose instance was not taken in.
#[derive(ToSchema)]
pub(crate) struct ImportFailed {
    file: String,
    detail: String,
}
