//! Removes the instances that validate has created, then their definitions.

use api_client::{Failure, Kind};
use serde_json::{Value, json};

use crate::figure::many;
use crate::report::Report;
use crate::site::Site;

pub(crate) async fn run(site: &Site, report: &mut Report) -> Result<(), Failure> {
    let made = site.made();
    let mut instances = 0;
    for definition in &made {
        let path = format!("/workflow-definitions/{definition}/retract");
        // A definition that was never published starts nothing.
        match site.any(0).post(&path, &json!({})).await {
            Ok(_) => {}
            Err(failure) if matches!(failure.kind, Kind::Failed | Kind::NotFound) => {}
            Err(failure) => return Err(failure),
        }
        let body = json!({"definitionId": definition});
        loop {
            let path = "/bulk-actions/delete/workflow-instances";
            let answer = site.any(instances).post(path, &body).await?;
            let deleted = answer.body["deleted"].as_u64().unwrap_or_default();
            instances += usize::try_from(deleted).unwrap_or_default();
            if deleted == 0 {
                break;
            }
        }
        match site.any(0).delete(&format!("/workflow-definitions/{definition}")).await {
            Ok(_) => {}
            Err(failure) if failure.kind == Kind::NotFound => {}
            Err(failure) => return Err(failure),
        }
    }
    let mut left = 0;
    for definition in &made {
        left += site.count(definition, None).await?;
    }
    let removed = format!("{} and {}", many(instances, "instance"), many(made.len(), "definition"));
    report.check("everything made is removed", left == 0, &removed, Value::Null);
    Ok(())
}
