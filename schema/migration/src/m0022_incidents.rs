//! An index for the instances with incidents, which are few.

pub(crate) const STATEMENTS: &[&str] =
    &["CREATE INDEX instances_incidents ON instances (updated_at, id) WHERE incidents > 0"];
