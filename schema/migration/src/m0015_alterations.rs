//! Plans that alter many instances, and their jobs.

pub(crate) const STATEMENTS: &[&str] = &[
    // Alterations and filter are JSON. The owner works on the plan until `held_until`; the cursor
    // says how far the instances are found.
    "CREATE TABLE alteration_plans (
        id {text} NOT NULL PRIMARY KEY,
        alterations {text} NOT NULL,
        filter {text} NOT NULL,
        submitted_by {text} NOT NULL,
        status {text} NOT NULL,
        place {text},
        owner {text},
        held_until BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        started_at BIGINT,
        completed_at BIGINT
    )",
    "CREATE INDEX alteration_plans_open ON alteration_plans (created_at)
        WHERE status NOT IN ('Completed', 'Failed')",
    "CREATE TABLE alteration_jobs (
        plan_id {text} NOT NULL,
        instance_id {text} NOT NULL,
        status {text} NOT NULL,
        message {text},
        created_at BIGINT NOT NULL,
        started_at BIGINT,
        completed_at BIGINT,
        PRIMARY KEY (plan_id, instance_id)
    )",
    "CREATE INDEX alteration_jobs_open ON alteration_jobs (plan_id, instance_id)
        WHERE status IN ('Pending', 'Running')",
];
