//! Indexes for the removal of ended instances.

pub(crate) const STATEMENTS: &[&str] = &[
    // Retention looks through the ended instances of one definition and state, the oldest first.
    "CREATE INDEX instances_ended ON instances (definition_id, status, updated_at, id)
        WHERE finished_at IS NOT NULL",
    // An instance stays while its children run.
    "CREATE INDEX instances_parent ON instances (parent_instance_id)
        WHERE parent_instance_id IS NOT NULL",
];
